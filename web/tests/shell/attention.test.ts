// @vitest-environment happy-dom
/** Somebody is told once of what newly needs them, and never of old news. */
import { expect, test } from "vitest";
import { needOf, newlyNeeding, waitingRuns } from "../../src/shell/attention";
import { pane } from "../wire/samples";

const BEGAN = Date.parse("2026-06-01T00:00:00Z");
const LATER = "2026-06-01T00:00:05.000000000Z";
const EARLIER = "2026-05-01T00:00:00.000000000Z";
const BLOCKED = pane("run_1", {
  state: "blocked",
  status: "awaiting_approval",
  attention: true,
  pending_approval_ids: ["appr_1"],
  last_event_at: LATER,
});

function fresh(now: typeof BLOCKED, before: [string, string][] = []): number {
  return newlyNeeding([now], new Map(before), BEGAN).length;
}

test("a run that comes to need somebody is told, once", () => {
  expect(fresh(BLOCKED, [["run_1", ""]])).toBe(1);
  expect(fresh(BLOCKED, [["run_1", needOf(BLOCKED)]])).toBe(0);
});

test("another question of the same run is told again", () => {
  expect(fresh({ ...BLOCKED, pending_approval_ids: ["appr_2"] }, [["run_1", needOf(BLOCKED)]])).toBe(1);
});

test("a run that is seen for the first time is told only if it is new", () => {
  expect(fresh(BLOCKED)).toBe(1);
  expect(fresh({ ...BLOCKED, last_event_at: EARLIER })).toBe(0);
});

test("a run that fell silent is told although nothing happened in it", () => {
  expect(fresh(pane("run_1", { stalled: true, attention: true, last_event_at: EARLIER }), [["run_1", ""]])).toBe(1);
});

test("a run that needs nobody any more is no news", () => {
  expect(fresh(pane("run_1"), [["run_1", "appr_1"]])).toBe(0);
});

test("the title counts live runs that wait, and not those that failed", () => {
  const failed = pane("run_2", { state: "error", status: "failed", attention: true });
  expect(waitingRuns([BLOCKED, failed, pane("run_3")])).toBe(1);
});
