/** What a run looks like to a person: a list of blocks. The fold makes and changes them; faces only read them. */

export type ToolState = "proposed" | "running" | "completed" | "failed" | "cancelled" | "timed_out" | "blocked";
export type EditState = "proposed" | "applied" | "rejected" | "reverted";
export type ApprovalState = "pending" | "approved" | "denied" | "timed_out";
export type Fields = Readonly<Record<string, unknown>>;

export interface Common {
  /** Its place among the blocks. */
  readonly index: number;
  /** The event that it began with. */
  readonly sequence: number;
  /** The last event that changed it. */
  until: number;
  /** When it began. */
  readonly at: string;
  /** Grows with every change, so that a face knows when to draw it anew. */
  revision: number;
  /** Whether more of it may come. */
  open: boolean;
}

/** What the agent says (or thinks), in Markdown. */
export interface Prose extends Common {
  readonly kind: "prose" | "thinking";
  readonly turn: number;
  text: string;
  /** Whether it was broken off. */
  broken: boolean;
}

/** A tool call. */
export interface Tool extends Common {
  readonly kind: "tool";
  readonly callId: string;
  name: string;
  /** shell, edit, file, search, todo, http, web, mcp, or one from the future. */
  toolKind: string;
  /** What it does, on one line: a command, a path, a pattern. */
  title: string;
  state: ToolState;
  input: Fields | null;
  /** When it began to run; until then, when it was asked for. */
  startedAt: string;
  endedAt: string | null;
  durationMs: number | null;
  output: Output;
  exitCode: number | null;
  signal: string | null;
  summary: string;
  /** Why it did not succeed. */
  error: string;
  resultArtifactId: string | null;
  /** The last question about it. */
  approvalId: string | null;
  detail: Detail | null;
  /** Whether a block of its own (an edit, the list of what is to be done) says the same better. */
  told: boolean;
}

/** What is known beyond the call's own life, by its kind. */
export type Detail =
  | { kind: "shell"; argv: readonly string[]; cwd: string; sandbox: string }
  | { kind: "glob"; pattern: string; matches: readonly string[]; count: number; truncated: boolean }
  | {
      kind: "grep";
      pattern: string;
      matches: readonly GrepMatch[];
      count: number;
      truncated: boolean;
      filesSearched: number;
    }
  | { kind: "file"; path: string; bytes: number; lines: number; artifactId: string | null }
  | {
      kind: "http";
      method: string;
      url: string;
      status: number | null;
      bytes: number | null;
      artifactId: string | null;
    }
  | {
      kind: "search";
      query: string;
      provider: string;
      results: number | null;
      hits: readonly SearchHit[];
      artifactId: string | null;
    }
  | { kind: "mcp"; server: string; tool: string };

export interface GrepMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet?: string;
}

/** The end of what a tool printed, however long it gets, in order, each piece with its stream. */
export interface Output {
  readonly pieces: { readonly stream: "stdout" | "stderr"; text: string }[];
  /** How much was printed in all. */
  chars: number;
  /** How much of it is kept. */
  kept: number;
  /** Whether the beginning was let go. */
  cut: boolean;
}

/** A change to files. */
export interface Edit extends Common {
  readonly kind: "edit";
  readonly callId: string;
  readonly paths: readonly string[];
  readonly artifactIds: readonly string[];
  readonly summary: string;
  state: EditState;
  /** Whether a person is to apply it. */
  waits: boolean;
  by: string;
  reason: string;
}

/** A question to a person. */
export interface Approval extends Common {
  readonly kind: "approval";
  readonly approvalId: string;
  readonly callId: string | null;
  readonly tool: string;
  readonly summary: string;
  readonly reason: string;
  readonly input: Fields | null;
  readonly effects: readonly string[];
  readonly expiresAt: string | null;
  state: ApprovalState;
  by: string;
  comment: string;
  scope: string;
  edited: boolean;
  /** Whether its call knows of it and can say how it was answered. */
  told: boolean;
}

/** What the agent wants to do. There is one list in a run, and its last state counts. */
export interface Todo extends Common {
  readonly kind: "todo";
  items: readonly { readonly content: string; readonly status: string }[];
}

/** Something worth knowing that is nobody's doing. */
export interface Note extends Common {
  readonly kind: "note";
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

/** What a person said or attached. */
export interface User extends Common {
  readonly kind: "user";
  readonly text: string;
  readonly by: string;
  readonly attachment: { readonly mime: string; readonly artifactId: string } | null;
}

/** Something other than text that the model made. */
export interface Media extends Common {
  readonly kind: "media";
  readonly mime: string;
  readonly artifactId: string;
  readonly summary: string;
}

/** A turn: one call of the model. It stands before what the model said in it. */
export interface Turn extends Common {
  readonly kind: "turn";
  readonly turn: number;
  readonly model: string | null;
  state: "running" | "completed" | "failed";
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  costMicrosUsd: number;
  durationMs: number | null;
  error: string;
}

/** A run of its own that does a part of the work, or one that branched off. */
export interface Child extends Common {
  readonly kind: "child";
  readonly relation: "child" | "branch" | "resumed_from";
  readonly runId: string;
  /** Who works there; empty where nobody says. */
  readonly agent: string;
  /** What it is to do, or why it branched off. */
  readonly summary: string;
  readonly fromSequence: number | null;
  /** running, then how it ended; empty for a branch and for the run that this one goes on from. */
  state: string;
  /** What it came back with. */
  result: string;
}

/** An event of a type that this release does not know, or whose data is not what its type says. */
export interface Opaque extends Common {
  readonly kind: "opaque";
  readonly type: string;
  readonly data: Fields;
}

/** How the run ended. */
export interface End extends Common {
  readonly kind: "end";
  readonly state: "completed" | "failed" | "cancelled";
  readonly text: string;
  readonly turns: number | null;
  readonly costMicrosUsd: number | null;
  readonly durationMs: number | null;
}

export type Block = Prose | Tool | Edit | Approval | Todo | Note | User | Media | Turn | Child | Opaque | End;
