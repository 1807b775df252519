/** How a run stood at any of its moments, by its events alone. */
import { expect, test } from "vitest";
import { stoodThen } from "../../src/pages/run/stands";
import { fixture, folded } from "../fold/logs";

/** How a fixture stood after the first event of a type. */
function after(name: string, type: string) {
  const lines = fixture(name);
  const place = lines.findIndex(({ event }) => event.type === type);
  expect(place).toBeGreaterThan(-1);
  return stoodThen(folded(lines.slice(0, place + 1)));
}

test("a run waits, works, asks, goes on and ends", () => {
  expect(after("approved", "run.queued")).toMatchObject({ state: "idle", startedAt: null, endedAt: null, reason: "" });
  expect(after("approved", "run.started")).toMatchObject({ state: "working", endedAt: null, reason: "" });
  const asked = after("approved", "approval.requested");
  expect(asked.state).toBe("blocked");
  expect(asked.reason).not.toBe("");
  expect(after("approved", "approval.resolved")).toMatchObject({ state: "working", reason: "" });
  const ended = after("approved", "run.finished");
  expect(ended).toMatchObject({ state: "done", reason: "" });
  expect(ended.endedAt).toBe(ended.past);
});

test("a run that failed says why, and one that was cancelled needs nobody", () => {
  const failed = after("failing_shell_kind", "run.failed");
  expect(failed.state).toBe("error");
  expect(failed.reason).toContain("exit code 4");
  expect(after("cancelled_command", "run.cancelled")).toMatchObject({ state: "done", reason: "" });
});
