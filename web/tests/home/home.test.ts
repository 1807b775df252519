// @vitest-environment happy-dom
/** Runs that need somebody come first, and a filter shows what it says. */
import { expect, test } from "vitest";
import { askedOf, fits, readFilter } from "../../src/pages/home/filter";
import { grouped, sameGroups } from "../../src/pages/home/order";
import { canBeSeen, heeded, markSeen } from "../../src/pages/home/seen";
import { pane } from "../wire/samples";

const BLOCKED = pane("run_1", { status: "awaiting_approval", state: "blocked", attention: true });
const FAILED = pane("run_3", { status: "failed", state: "error", attention: true });
const STALLED = pane("run_2", { stalled: true, attention: true });
const WORKING = pane("run_4", { agent: "zot", session_id: "chat_1", doing: "npm test" });
const DONE = pane("run_5", { status: "completed", state: "done" });
const WORKING_TOO = pane("run_6");
const ALL = [DONE, WORKING, FAILED, STALLED, BLOCKED, WORKING_TOO];

function shown(query: string): string[] {
  const filter = readFilter(new URLSearchParams(query));
  return ALL.filter((one) => fits(one, filter))
    .map((one) => one.run_id)
    .sort();
}

test("those that wait for an answer come first, then the silent, then the failed; then work, newest first; then what is over", () => {
  expect(grouped(ALL)).toEqual([
    { name: "attention", ids: ["run_1", "run_2", "run_3"] },
    { name: "work", ids: ["run_6", "run_4"] },
    { name: "over", ids: ["run_5"] },
  ]);
});

test("the order does not change while runs only go on", () => {
  const before = grouped(ALL);
  const later = ALL.map((one) => ({ ...one, head_sequence: 99, doing: "something else", cost_micros_usd: 5 }));
  expect(sameGroups(before, grouped(later))).toBe(true);
  expect(sameGroups(before, grouped([...later, pane("run_7")]))).toBe(false);
  expect(sameGroups(before, grouped(ALL.slice(1)))).toBe(false);
});

test.each([
  ["", ["run_1", "run_2", "run_3", "run_4", "run_5", "run_6"]],
  ["agent=zot", ["run_4"]],
  ["state=attention", ["run_1", "run_2", "run_3"]],
  ["state=stalled", ["run_2"]],
  ["state=error", ["run_3"]],
  ["state=blocked", ["run_1"]],
  ["task=task_run_5", ["run_5"]],
  ["session=chat_1", ["run_4"]],
  ["q=NPM", ["run_4"]],
  ["q=run_3&state=error", ["run_3"]],
  ["q=run_3&state=done", []],
  ["agent=nobody", []],
])("“%s” shows %j", (query, ids) => {
  expect(shown(query)).toEqual(ids);
});

test("what the gateway can look for is asked of it, so that old runs are found, too", () => {
  const asked = (query: string) => askedOf(readFilter(new URLSearchParams(query)));
  expect(asked("q=text")).toBeNull();
  expect(asked("task=task_1")).toMatchObject({ task_id: "task_1" });
  expect(asked("state=error&agent=pi")).toMatchObject({ status: "failed", agent: "pi" });
});

test("a failure that was seen needs no attention any more; one that waits for an answer still does", () => {
  expect([FAILED, BLOCKED, STALLED].map(canBeSeen)).toEqual([true, false, false]);
  markSeen([FAILED.run_id, BLOCKED.run_id]);
  expect(grouped(ALL.map(heeded))).toEqual([
    { name: "attention", ids: ["run_1", "run_2"] },
    { name: "work", ids: ["run_6", "run_4"] },
    { name: "over", ids: ["run_5", "run_3"] },
  ]);
  expect(canBeSeen(FAILED)).toBe(false);
});
