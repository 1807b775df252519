/** What the API says of tasks, agents and what they made, as far as the console reads it. Names and meanings are the gateway's. */
import type { Run } from "./runs";

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

export interface Task {
  readonly task_id: string;
  readonly title: string;
  readonly latest_run: Run | null;
}

export interface Demo {
  readonly exists: boolean;
  readonly active: number;
  readonly task_ids: readonly string[];
  readonly run_ids: readonly string[];
}

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
