/** What the API says of who did what, and what it cost, as far as the console reads it. Names and meanings are the gateway's. */

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

export interface UsageRow {
  readonly group: string;
  readonly runs: number;
  readonly turns: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros_usd: number;
}
