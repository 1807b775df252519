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
