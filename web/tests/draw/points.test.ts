/** Heights, edges and fewer points keep what a reader must not lose. */
import { expect, test } from "vitest";
import { spread, stacked, thinned } from "../../src/draw/points";

test("each row stands on those before it, and what is missing has no height", () => {
  expect(
    stacked([
      [1, 2, null],
      [10, null, 30],
      [100, 200, 300],
    ]),
  ).toEqual([
    [1, 2, 0],
    [11, 2, 30],
    [111, 202, 330],
  ]);
});

test("bars have half a step of room at both ends, also a single one", () => {
  expect(spread([0, 1, 2])).toEqual([-0.5, 2.5]);
  expect(spread([100, 110, 112])).toEqual([99, 113]);
  expect(spread([7])).toEqual([6.5, 7.5]);
  expect(spread([3, 3])).toEqual([2.5, 3.5]);
});

test("few points are all kept; of many the first and the last are", () => {
  expect(thinned(3, 200)).toEqual([0, 1, 2]);
  const kept = thinned(100_000, 200);
  expect(kept).toHaveLength(200);
  expect(kept[0]).toBe(0);
  expect(kept.at(-1)).toBe(99_999);
  expect(new Set(kept).size).toBe(200);
});
