/** Sums add up, stand in order, and days have no holes. */
import { expect, test } from "vitest";
import { everyDay, sorted, total } from "../../src/pages/usage/sums";
import type { UsageRow } from "../../src/wire/resources/accounts";

function row(group: string, cost: number, more: Partial<UsageRow> = {}): UsageRow {
  return {
    group,
    runs: 1,
    turns: 2,
    input_tokens: 100,
    cached_input_tokens: 40,
    output_tokens: 10,
    cost_micros_usd: cost,
    ...more,
  };
}

test("everything together is the sum of all", () => {
  expect(total([row("a", 5), row("b", 7)])).toEqual(
    row("", 12, { runs: 2, turns: 4, input_tokens: 200, cached_input_tokens: 80, output_tokens: 20 }),
  );
  expect(total([])).toMatchObject({ cost_micros_usd: 0, runs: 0 });
});

test("most comes first, and what is equal in order of names", () => {
  const rows = [row("b", 1), row("c", 9), row("a", 1)];
  expect(sorted(rows, "cost_micros_usd").map(({ group }) => group)).toEqual(["c", "a", "b"]);
});

test("the newest day comes first", () => {
  const rows = [row("2026-01-31", 1), row("2026-02-01", 1)];
  expect(sorted(rows, "group").map(({ group }) => group)).toEqual(["2026-02-01", "2026-01-31"]);
});

test("days on which nothing happened are there, with nothing, also over the end of a month", () => {
  const days = everyDay([row("2026-02-27", 3), row("2026-03-02", 4)]);
  expect(days.map(({ group, cost_micros_usd: cost }) => [group, cost])).toEqual([
    ["2026-02-27", 3],
    ["2026-02-28", 0],
    ["2026-03-01", 0],
    ["2026-03-02", 4],
  ]);
});

test("of very many days the newest year is plotted, and what is no day is left out", () => {
  const days = everyDay([row("1970-01-01", 1), row("2026-03-02", 4), row("", 1)]);
  expect(days).toHaveLength(366);
  expect(days.at(-1)?.group).toBe("2026-03-02");
  expect(everyDay([row("no day", 1)])).toEqual([]);
});
