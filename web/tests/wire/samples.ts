/** Resources as the gateway tells them, for tests that change what matters to them. */
import type { Approval, Grants } from "../../src/wire/resources/decisions";
import type { Pane } from "../../src/wire/resources/runs";

export function pane(run_id: string, changes: Partial<Pane> = {}): Pane {
  return {
    run_id,
    task_id: `task_${run_id}`,
    session_id: null,
    agent: "native",
    status: "running",
    state: "working",
    stalled: false,
    attention: false,
    reason: "",
    doing: "thinking",
    since: "2026-01-01T00:00:00.000000000Z",
    last_event_type: "turn.started",
    last_event_at: "2026-01-01T00:00:00.000000000Z",
    head_sequence: 3,
    cost_micros_usd: 0,
    budget_micros_usd: null,
    malformed: 0,
    title: `Title of ${run_id}`,
    model: null,
    demo: false,
    pending_approval_ids: [],
    parent_run_id: null,
    created_at: "2026-01-01T00:00:00.000000000Z",
    finished_at: null,
    stalls_at: null,
    ...changes,
  };
}

export function grants(what: string): Grants {
  const rule = (scope: string) => ({ granted: true, text: `shell_exec may run \`${what}\`, ${scope}`, rule: null });
  return {
    once: { granted: true, text: "this call only", rule: null },
    session: { granted: false, text: "no rule could be trusted to mean this call", rule: null },
    task: rule("in this task"),
    always: rule("until it is revoked"),
  };
}

export function approval(approval_id: string, changes: Partial<Approval> = {}): Approval {
  return {
    approval_id,
    status: "pending",
    run_id: "run_1",
    task_id: "task_1",
    session_id: null,
    agent: "native",
    workspace: "/srv/shop",
    tool_call_id: "call_1",
    tool_call_ids: ["call_1"],
    tool_name: "shell_exec",
    kind: "shell",
    effects: ["executes"],
    summary: "npm test",
    policy_reason: "commands are asked about",
    input: { command: "npm test" },
    input_redacted: false,
    editable: true,
    not_editable: null,
    needs_person: false,
    grants: grants("npm test"),
    requested_at: "2026-01-01T00:00:00.000000000Z",
    expires_at: null,
    resolved_at: null,
    decision: null,
    by: null,
    comment: null,
    scope: null,
    edited_input: null,
    stop: null,
    permission_id: null,
    ...changes,
  };
}

/** The same question, answered by somebody else. */
export function answered(of: Approval, changes: Partial<Approval> = {}): Approval {
  return {
    ...of,
    status: "approved",
    decision: "approved",
    by: "anna",
    scope: "once",
    comment: "",
    stop: false,
    resolved_at: "2026-01-01T00:01:00.000000000Z",
    ...changes,
  };
}
