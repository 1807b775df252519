/** A list of a hundred thousand rows, in a real browser. */
import { beforeAll, expect, test } from "vitest";
import { inLiveChromium } from "../chromium";
import type { Seen } from "./list.page";

interface Answer {
  readonly seen: readonly Seen[];
  readonly frames: number;
  readonly bare: number;
  readonly failure?: string;
}

let answer: Answer;

beforeAll(async () => {
  answer = (await inLiveChromium(new URL("./list.page.tsx", import.meta.url))) as Answer;
  if (answer.failure !== undefined) throw new Error(answer.failure);
}, 120_000);

function after(what: string): Seen {
  const found = answer.seen.find((one) => one.after === what);
  if (found === undefined) throw new Error(`nothing was seen after “${what}”: ${JSON.stringify(answer)}`);
  return found;
}

test("a list that is followed opens at its end", () => {
  expect(after("opened")).toMatchObject({ last: "row 99999", atEnd: true });
  expect(after("opened").away).toBeLessThanOrEqual(1);
});

test("it stays at the end while rows come and while the last one grows", () => {
  expect(after("500 rows came")).toMatchObject({ last: "row 100499", atEnd: true });
  expect(after("the last row grew")).toMatchObject({ last: "row 100499", atEnd: true });
  expect(after("the last row grew").away).toBeLessThanOrEqual(1);
});

test("whoever has scrolled up is left where they are when rows come", () => {
  const before = after("scrolled up");
  expect(before.atEnd).toBe(false);
  expect(after("rows came while reading")).toMatchObject({ first: before.first, last: before.last, atEnd: false });
});

test("a row far away is brought into the middle, whatever the rows between turn out to measure", () => {
  const { first, last } = after("row 50000 was shown");
  expect(Number(first.slice(4))).toBeLessThan(50_000);
  expect(Number(last.slice(4))).toBeGreaterThan(50_000);
});

test("what is in view stays in view when rows above it go", () => {
  const before = after("row 50000 was shown");
  const now = Number(after("every other row was filtered out").first.slice(4));
  expect(now).toBeGreaterThanOrEqual(Number(before.first.slice(4)) - 2);
  expect(now).toBeLessThanOrEqual(Number(before.last.slice(4)));
});

test("the end can be gone to from anywhere", () => {
  expect(after("back to the end")).toMatchObject({ last: "row 100998", atEnd: true });
});

test("a list that gets short shows what is left", () => {
  expect(after("all but ten were filtered out").last).toBe("row 9");
});

test("no frame was bare, and only rows near the view are in the page", () => {
  expect(answer.frames).toBeGreaterThan(100);
  expect(answer.bare).toBe(0);
  for (const { rows, covered } of answer.seen) {
    expect(covered).toBe(true);
    expect(rows).toBeLessThan(80);
  }
});
