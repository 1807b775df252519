/** The audit tells who did what with whose permission. */
import { expect, test } from "vitest";
import { Account } from "../../src/pages/audit/account";
import type { AuditEntry } from "../../src/wire/resources/accounts";

let last = 0;

function fact(type: string, more: Partial<AuditEntry> = {}): AuditEntry {
  last += 1;
  return {
    event_id: `evt_${last}`,
    run_id: "run_1",
    task_id: "task_1",
    sequence: last,
    occurred_at: "2026-01-01T00:00:00.000000000Z",
    type,
    who: "",
    what: "",
    agent: "native",
    approval_id: null,
    tool_call_id: null,
    ...more,
  };
}

function told(...entries: AuditEntry[]) {
  const account = new Account();
  return entries.map((entry) => account.take(entry));
}

const ASKED = fact("approval.requested", {
  approval_id: "appr_1",
  tool_call_id: "call_1",
  what: "asks: rm -r build (writes)",
});

test("an answer is shown with its question", () => {
  const answer = fact("approval.resolved", { approval_id: "appr_1", who: "ann", what: "denied: no" });
  expect(told(ASKED, answer)[1]).toMatchObject({ by: "ann", about: "rm -r build (writes)" });
});

test("a command is shown with whoever allowed it, also when the answer names no call", () => {
  const answer = fact("approval.resolved", { approval_id: "appr_1", who: "ann", what: "approved" });
  const command = fact("tool.shell.command", { tool_call_id: "call_1", what: "$ rm -r build" });
  expect(told(ASKED, answer, command)[2]).toMatchObject({ by: "", allowedBy: "ann" });
});

test("what was denied was allowed by nobody", () => {
  const answer = fact("approval.resolved", { approval_id: "appr_1", who: "ann", what: "denied" });
  const command = fact("tool.shell.command", { tool_call_id: "call_1" });
  expect(told(ASKED, answer, command)[2]?.allowedBy).toBe("");
});

test("calls of the same name in two runs are two calls", () => {
  const answer = fact("approval.resolved", { approval_id: "appr_1", who: "ann", what: "approved" });
  const other = fact("tool.shell.command", { run_id: "run_2", tool_call_id: "call_1" });
  expect(told(ASKED, answer, other)[2]?.allowedBy).toBe("");
});

test("a change that is applied says which", () => {
  const proposed = fact("tool.edit.proposed", { tool_call_id: "call_2", what: "a.py: 1 hunk" });
  const applied = fact("tool.edit.applied", { tool_call_id: "call_2", what: "art_1", who: "bob" });
  expect(told(proposed, applied)[1]).toMatchObject({ by: "bob", about: "a.py: 1 hunk" });
});

test("facts that belong to no call are not mixed up", () => {
  const answer = fact("approval.resolved", { approval_id: "appr_9", who: "ann", what: "approved" });
  expect(told(answer, fact("tool.shell.command"))[1]?.allowedBy).toBe("");
});
