/** A run as it was at any event, wherever one comes from. */
import { expect, test } from "vitest";
import { Snapshots } from "../../src/fold/snapshots";
import type { Told } from "../../src/wire/events";
import { FIXTURES, fixture, folded, logOf, seen } from "./logs";

const STEP = 100;

/** All fixtures one after the other, again and again: a long run with a little of everything. */
function longRun(length: number): Told[] {
  const events = FIXTURES.flatMap(({ lines }) => lines.map(({ event }) => [event.type, event.data] as const));
  return logOf(Array.from({ length }, (_, place) => events[place % events.length] ?? ["none", {}]));
}

test.each(FIXTURES)("$name at each of its events is the fold of what came up to it", ({ lines }) => {
  const past = new Snapshots();
  const places = lines.map(({ event }) => event.sequence);
  for (const sequence of [...places, ...places.toReversed(), -1]) {
    const before = lines.filter(({ event }) => event.sequence <= sequence);
    expect(seen(past.at(lines, sequence))).toEqual(seen(folded(before)));
  }
});

test("to and fro in a long run, on both sides of every moment that is kept", () => {
  const lines = longRun(3 * STEP + 50);
  const past = new Snapshots(STEP);
  for (const sequence of [2 * STEP, 3, 3 * STEP + 49, STEP, STEP - 1, STEP - 3, 2 * STEP + 1, STEP + 7, 0, 3 * STEP]) {
    expect(JSON.stringify(seen(past.at(lines, sequence)))).toBe(
      JSON.stringify(seen(folded(lines.slice(0, sequence + 1)))),
    );
  }
});

test("lines that come later are seen, and what the caller takes in changes no other answer", () => {
  const lines = [...fixture("reviewed")];
  const past = new Snapshots();
  const middle = past.at(lines.slice(0, 10), 9);
  const kept = JSON.stringify(seen(past.at(lines, 9)));
  folded(lines.slice(10), middle);
  expect(JSON.stringify(seen(past.at(lines, 9)))).toBe(kept);
  expect(JSON.stringify(seen(middle))).toBe(JSON.stringify(seen(past.at(lines, 1_000))));
});

test("in a run whose beginning was pruned, a place that is gone is the moment before the first that is left", () => {
  const lines = fixture("pruned");
  const first = lines[0]?.event.sequence ?? 0;
  expect(first).toBeGreaterThan(0);
  const past = new Snapshots();
  expect(past.at(lines, first - 1).blocks).toEqual([]);
  expect(past.at(lines, first).head).toBe(first);
});
