/** What somebody wants to know of the audit, and how it is kept in the address. Pure. */
import type { Query } from "../../wire/base";

/** Times to choose from: how far back, or between two moments. */
export const TIMES = {
  hour: { label: "Last hour", ms: 3_600_000 },
  day: { label: "Last 24 hours", ms: 86_400_000 },
  week: { label: "Last 7 days", ms: 604_800_000 },
  month: { label: "Last 30 days", ms: 2_592_000_000 },
} as const;

/** Kinds of facts, as patterns of types. */
export const KINDS: readonly { readonly pattern: string; readonly label: string }[] = [
  { pattern: "approval.*", label: "Approvals" },
  { pattern: "policy.*", label: "What policy did" },
  { pattern: "tool.shell.*", label: "Commands" },
  { pattern: "tool.edit.*,tool.multi_edit.*,tool.file_write.*", label: "Edits" },
  { pattern: "tool.http.*,tool.web_fetch.*,tool.web_search.*", label: "Network" },
  { pattern: "cost.*", label: "Money" },
  { pattern: "run.*", label: "Runs" },
  { pattern: "error.*,run.failed,tool.failed,turn.failed", label: "Errors" },
  { pattern: "user.*", label: "What people said" },
  { pattern: "external.*", label: "From outside" },
  { pattern: "*", label: "Every event" },
];

export interface Asked {
  readonly type: string;
  readonly agent: string;
  /** A key of TIMES, `between`, or empty for all time. */
  readonly time: string;
  /** Local moments, as a field for dates writes them. */
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly run: string;
  /** Only what a person (or a token) did. */
  readonly people: boolean;
}

const NAMES = ["type", "agent", "time", "from", "to", "text", "run"] as const;

/** What the address asks for. */
export function askedOf(query: URLSearchParams): Asked {
  const [type, agent, time, from, to, text, run] = NAMES.map((name) => query.get(name) ?? "");
  return {
    type: type ?? "",
    agent: agent ?? "",
    time: time ?? "",
    from: from ?? "",
    to: to ?? "",
    text: text ?? "",
    run: run ?? "",
    people: query.get("people") === "1",
  };
}

/** What the gateway is asked for; moments are told from `nowMs`. */
export function queryOf(asked: Asked, nowMs: number): Query {
  return {
    type: asked.type.trim(),
    agent: asked.agent,
    q: asked.text.trim(),
    run_id: asked.run.trim(),
    since: sinceOf(asked, nowMs),
    until: asked.time === "between" ? momentOf(asked.to) : undefined,
  };
}

function sinceOf(asked: Asked, nowMs: number): string | undefined {
  if (asked.time === "between") return momentOf(asked.from);
  const span = isTime(asked.time) ? TIMES[asked.time].ms : null;
  return span === null ? undefined : new Date(nowMs - span).toISOString();
}

function isTime(value: string): value is keyof typeof TIMES {
  return Object.hasOwn(TIMES, value);
}

function momentOf(local: string): string | undefined {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
