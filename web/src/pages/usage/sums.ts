/** Sums of usage: added up, put in order, and without holes between days. Pure. */
import type { UsageRow } from "../../wire/resources/accounts";

/** The columns of numbers, in their order. */
export const COLUMNS = [
  { name: "cost_micros_usd", label: "Cost" },
  { name: "runs", label: "Runs" },
  { name: "turns", label: "Turns" },
  { name: "input_tokens", label: "Input" },
  { name: "cached_input_tokens", label: "Cached" },
  { name: "output_tokens", label: "Output" },
] as const;

export type Column = (typeof COLUMNS)[number]["name"];

/** Everything together. */
export function total(rows: readonly UsageRow[]): UsageRow {
  const sum = (name: Column) => rows.reduce((all, row) => all + row[name], 0);
  return {
    group: "",
    cost_micros_usd: sum("cost_micros_usd"),
    runs: sum("runs"),
    turns: sum("turns"),
    input_tokens: sum("input_tokens"),
    cached_input_tokens: sum("cached_input_tokens"),
    output_tokens: sum("output_tokens"),
  };
}

/** By a column, most first; by `group`, the last name first (the newest day). What is equal stays in order of names. */
export function sorted(rows: readonly UsageRow[], by: Column | "group"): readonly UsageRow[] {
  if (by === "group") return rows.toSorted((a, b) => (a.group < b.group ? 1 : -1));
  return rows.toSorted((a, b) => b[by] - a[by] || (a.group < b.group ? -1 : 1));
}

const DAY_MS = 86_400_000;
// A plot of more days than this shows nothing that can be told apart.
const MOST_DAYS = 366;

/** Every day from the first to the last, with those on which nothing happened; only the newest when there are too many. */
export function everyDay(rows: readonly UsageRow[]): readonly UsageRow[] {
  const known = new Map(rows.map((row) => [Date.parse(row.group), row]));
  const days = [...known.keys()].filter((day) => !Number.isNaN(day));
  if (days.length === 0) return [];
  const last = Math.max(...days);
  const first = Math.max(Math.min(...days), last - (MOST_DAYS - 1) * DAY_MS);
  const all: UsageRow[] = [];
  for (let day = first; day <= last; day += DAY_MS) {
    const group = new Date(day).toISOString().slice(0, 10);
    all.push(known.get(day) ?? { ...total([]), group });
  }
  return all;
}
