/** What the API answers with, as far as the console reads it. Names and meanings are the gateway's. */

export type Status = "queued" | "running" | "awaiting_approval" | "completed" | "failed" | "cancelled";
export type AgentState = "idle" | "working" | "blocked" | "done" | "error";
export type Scope = "once" | "session" | "task" | "always";

export interface List<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface Pane {
  readonly run_id: string;
  readonly task_id: string | null;
  readonly session_id: string | null;
  readonly agent: string;
  readonly status: Status;
  readonly state: AgentState;
  readonly stalled: boolean;
  readonly attention: boolean;
  readonly reason: string;
  readonly doing: string;
  readonly since: string | null;
  readonly last_event_type: string;
  readonly last_event_at: string;
  readonly head_sequence: number;
  readonly cost_micros_usd: number;
  readonly budget_micros_usd: number | null;
  readonly malformed: number;
  readonly title: string;
  readonly model: string | null;
  readonly demo: boolean;
  readonly pending_approval_ids: readonly string[];
  readonly parent_run_id: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  /** When it counts as stalled if nothing more happens; no event tells of it. */
  readonly stalls_at: string | null;
}

export interface Run {
  readonly run_id: string;
  readonly task_id: string | null;
  readonly session_id: string | null;
  readonly agent: string;
  readonly status: Status;
  readonly kind: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly workspace: { readonly path: string; readonly mode: string | null } | null;
  readonly prior_run_id: string | null;
  readonly parent_run_id: string | null;
  readonly worker_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly duration_ms: number | null;
  readonly usage: {
    readonly turns: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cached_input_tokens: number;
  };
  readonly cost_micros_usd: number;
  readonly budget_micros_usd: number | null;
  readonly budget_remaining_micros_usd: number | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly first_sequence: number;
  readonly head_sequence: number;
  readonly head_hash: string;
  readonly title: string;
  readonly demo: boolean;
  readonly resumed_from: EventPlace | null;
  readonly branched_from: EventPlace | null;
  /** What the agent is doing, at a glance. */
  readonly pane: {
    readonly state: AgentState;
    readonly stalled: boolean;
    readonly attention: boolean;
    readonly reason: string;
    readonly doing: string;
    readonly since: string | null;
  };
}

/** An event of a run. */
export interface EventPlace {
  readonly run_id: string;
  readonly sequence: number;
}

/** One run of a family of runs, and how it came from another. */
export interface Relative {
  readonly run_id: string;
  readonly task_id: string | null;
  readonly relation: "first" | "again" | "retry" | "resume" | "branch" | "child";
  readonly from_run_id: string | null;
  readonly from_sequence: number | null;
  readonly agent: string;
  readonly title: string;
  readonly status: Status;
  readonly state: AgentState;
  readonly attention: boolean;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly cost_micros_usd: number;
  readonly head_sequence: number;
}

/** Every run that came from the same beginning, oldest first. */
export interface Tree {
  readonly run_id: string;
  readonly has_more: boolean;
  readonly data: readonly Relative[];
}

export interface Artifact {
  readonly id: string;
  readonly kind: string;
  readonly status: string | null;
  readonly target_path: string | null;
  readonly diff: string | null;
  readonly stats: { readonly hunks: number; readonly additions: number; readonly deletions: number } | null;
  readonly summary: string;
  readonly mime: string;
  readonly size_bytes: number;
  readonly created_at: string;
  readonly applied_at: string | null;
  readonly rejected_at: string | null;
  readonly reverted_at: string | null;
  readonly inverse_of: string | null;
  readonly task_id: string | null;
  readonly produced_by_run_id: string | null;
  readonly produced_by_tool_call_id: string | null;
}

/** What a standing grant is good for. A list that is null does not matter for the tool. */
export interface GrantRule {
  readonly tool: string;
  readonly effects: readonly string[];
  readonly argv: readonly { readonly argv: readonly string[]; readonly more: boolean }[] | null;
  readonly cwd: string;
  readonly paths: readonly string[] | null;
  readonly hosts: readonly string[] | null;
  readonly methods: readonly string[] | null;
}

/** What an approval of one scope would allow from now on. */
export interface ScopeGrant {
  /** Whether anything would be allowed beyond this call. */
  readonly granted: boolean;
  /** The rule, or why there is none, in one line. */
  readonly text: string;
  readonly rule: GrantRule | null;
}

export type Grants = Readonly<Record<Scope, ScopeGrant>>;

/** A question to a person, and its answer once there is one. */
export interface Approval {
  readonly approval_id: string;
  readonly status: "pending" | "approved" | "denied" | "timed_out";
  readonly run_id: string;
  readonly task_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  readonly workspace: string;
  readonly tool_call_id: string;
  readonly tool_call_ids: readonly string[];
  readonly tool_name: string;
  readonly kind: string;
  readonly effects: readonly string[];
  readonly summary: string;
  readonly policy_reason: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly input_redacted: boolean;
  readonly editable: boolean;
  readonly not_editable: string | null;
  /** Whether it asks for an answer, given as `edited_input`, and not for a yes. */
  readonly needs_person: boolean;
  readonly grants: Grants;
  readonly requested_at: string;
  readonly expires_at: string | null;
  readonly resolved_at: string | null;
  readonly decision: "approved" | "denied" | null;
  readonly by: string | null;
  readonly comment: string | null;
  readonly scope: Scope | null;
  readonly edited_input: Readonly<Record<string, unknown>> | null;
  readonly stop: boolean | null;
  readonly permission_id: string | null;
}

/** What somebody decides. */
export interface Answer {
  readonly decision: "approved" | "denied";
  readonly comment?: string;
  readonly scope?: Scope;
  readonly edited_input?: Readonly<Record<string, unknown>>;
  readonly stop?: boolean;
}

/** The demonstration: whether there is one, and how much of it is at work. */
export interface Demo {
  readonly exists: boolean;
  readonly active: number;
  readonly task_ids: readonly string[];
  readonly run_ids: readonly string[];
}

/** What the gateway says of itself. */
export interface About {
  readonly version: string;
  readonly caller: string;
  readonly scopes: readonly string[];
  readonly stall_s: number;
  readonly workspace: string;
  readonly sandbox_layer: string;
  /** Which providers of models have a key here. */
  readonly providers: readonly string[];
  readonly policies: readonly string[];
  readonly demo: boolean;
}

/** An agent that a task may name. */
export interface Agent {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly installed: boolean;
  readonly version: string | null;
  /** How it is spoken to. */
  readonly driven: string;
  /** Whether it asks for permission by itself; what others do is bounded by their sandbox alone. */
  readonly asks: boolean;
  readonly survives_restart: boolean;
  readonly sandbox_layer: string;
  readonly place: string | null;
  /** What to do to get it. */
  readonly install: string | null;
}

export interface Session {
  readonly session_id: string;
  readonly title: string;
  readonly created_at: string;
  readonly tasks: number;
}

/** A task, as far as it is read after it was made. */
export interface Task {
  readonly task_id: string;
  readonly title: string;
  readonly latest_run: Run | null;
}

/** One fact of the audit. */
export interface AuditEntry {
  readonly event_id: string;
  readonly run_id: string;
  readonly task_id: string | null;
  readonly sequence: number;
  readonly occurred_at: string;
  readonly type: string;
  /** A person or a token's name; empty when the agent did it by itself. */
  readonly who: string;
  readonly what: string;
  readonly agent: string;
  readonly approval_id: string | null;
  readonly tool_call_id: string | null;
}

export type UsageGroup = "agent" | "model" | "task" | "day";

/** One sum. The cached input is a part of the input. */
export interface UsageRow {
  readonly group: string;
  readonly runs: number;
  readonly turns: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros_usd: number;
}

/** A decision that stands until it is revoked. */
export interface Permission {
  readonly permission_id: string;
  readonly agent: string;
  readonly workspace: string;
  readonly scope: "session" | "task" | "always";
  readonly scope_id: string | null;
  readonly rule: GrantRule;
  /** What the rule allows, in one line. */
  readonly text: string;
  readonly made_by: string;
  readonly approval_id: string | null;
  readonly created_at: string;
  readonly used: number;
}

/** What applying or reverting patches would come to now. */
export interface Check {
  readonly artifact_ids: readonly string[];
  readonly verb: "apply" | "revert";
  readonly fits: boolean;
  /** The code of the refusal. */
  readonly code: string | null;
  readonly message: string;
  readonly hint: string;
  readonly path: string | null;
  readonly expected: string | null;
  readonly actual: string | null;
}
