/** What the API says of runs, as far as the console reads it. Names and meanings are the gateway's. */

export type Status = "queued" | "running" | "awaiting_approval" | "completed" | "failed" | "cancelled";

export type AgentState = "idle" | "working" | "blocked" | "done" | "error";

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

export interface EventPlace {
  readonly run_id: string;
  readonly sequence: number;
}

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

export interface Tree {
  readonly run_id: string;
  readonly has_more: boolean;
  readonly data: readonly Relative[];
}
