/** What is listed of a run, and where the next stop is. */
import { expect, test } from "vitest";
import { filterOf, isListed, listed, nextPlace, nextRow, placeIn } from "../../src/pages/run/shown";
import { FIXTURES, fixture, folded } from "../fold/logs";

function kinds(name: string, filter: string, thinking = false): string[] {
  const { blocks, jumps } = folded(fixture(name));
  return listed(blocks, jumps.errors, filterOf(filter), thinking).map((index) => blocks[index]?.kind ?? "none");
}

test.each(FIXTURES)("$name: everything but thoughts and what is told twice is listed, in order", ({ lines }) => {
  const { blocks, jumps } = folded(lines);
  const shown = listed(blocks, jumps.errors, "all", false);
  expect(shown).toEqual([...shown].sort((one, other) => one - other));
  const hidden = blocks.filter(({ index }) => !shown.includes(index));
  for (const block of hidden) expect(block.kind === "thinking" || (block.kind === "tool" && block.told)).toBe(true);
});

test("thoughts are hidden until somebody asks for them", () => {
  expect(kinds("thinking", "all")).not.toContain("thinking");
  expect(kinds("thinking", "all", true)).toContain("thinking");
  expect(kinds("thinking", "said", true)).toContain("thinking");
});

test("a filter lists what its name says and nothing else", () => {
  expect(new Set(kinds("reviewed", "edits"))).toEqual(new Set(["edit"]));
  expect(new Set(kinds("approved", "approvals"))).toEqual(new Set(["approval"]));
  expect(new Set(kinds("looking_around", "tools"))).toEqual(new Set(["tool"]));
});

test("the filter of errors lists what can be jumped to as an error", () => {
  const { blocks, jumps } = folded(fixture("fails"));
  expect(jumps.errors.length).toBeGreaterThan(0);
  expect(listed(blocks, jumps.errors, "errors", false)).toEqual(jumps.errors);
});

test("a filter that nobody knows filters nothing", () => {
  expect(filterOf("constructor")).toBe("all");
  expect(filterOf(null)).toBe("all");
});

test("a tool call that failed is listed even when another card tells of it", () => {
  const { blocks } = folded(fixture("looking_around"));
  const tool = blocks.find((block) => block.kind === "tool");
  if (tool?.kind !== "tool") throw new Error("the fixture has no tool call");
  expect(isListed({ ...tool, told: true, state: "completed" }, [], "all", false)).toBe(false);
  expect(isListed({ ...tool, told: true, state: "failed" }, [], "all", false)).toBe(true);
});

test("the next stop is the one after where one stands, and after the last comes the first", () => {
  const stops = [3, 7, 20];
  expect([null, 0, 3, 7, 19, 20, 99].map((from) => nextPlace(stops, from, 1))).toEqual([0, 0, 1, 2, 2, 0, 0]);
  expect([null, 0, 3, 7, 19, 20, 99].map((from) => nextPlace(stops, from, -1))).toEqual([2, 2, 2, 0, 1, 1, 2]);
  expect(nextPlace([], 5, 1)).toBe(-1);
});

test("a number's place in a rising list is where it stands or would stand", () => {
  expect([0, 3, 4, 20, 21].map((wanted) => placeIn([3, 7, 20], wanted))).toEqual([0, 0, 1, 2, 3]);
});

test("moving goes on from the selected row, or from what is seen when that is far away, and stops at the ends", () => {
  const shown = Array.from({ length: 100 }, (_, index) => index * 2);
  const seen = { first: 10, last: 20 };
  expect(nextRow(shown, 24, seen, 1)).toBe(13);
  expect(nextRow(shown, 24, seen, -1)).toBe(11);
  expect(nextRow(shown, 180, seen, 1)).toBe(10);
  expect(nextRow(shown, 180, seen, -1)).toBe(20);
  expect(nextRow(shown, null, seen, 1)).toBe(10);
  expect(nextRow(shown, 0, { first: 0, last: 5 }, -1)).toBe(0);
  expect(nextRow(shown, 198, { first: 90, last: 99 }, 1)).toBe(99);
});
