/** A task as it is being written down: what was typed, what is sent of it, and what cannot be sent. Pure. */
import { type Attachment, sentOf } from "../../control/attaching";
import { micros } from "../../control/money";

/** Names of the form's fields. */
export type FieldName =
  | "prompt"
  | "agent"
  | "model"
  | "path"
  | "mode"
  | "budget"
  | "policy"
  | "rules"
  | "session"
  | "title"
  | "turns"
  | "timeout"
  | "experimental"
  | "mcp"
  | "env"
  | "attachments";

export type Mode = "in_place" | "worktree" | "clone" | "scratch";

/** Everything as it stands in the form. */
export interface Draft {
  readonly prompt: string;
  readonly agent: string;
  readonly model: string;
  readonly path: string;
  readonly mode: Mode;
  readonly budget: string;
  /** A preset's name, empty for the gateway's own, or `rules`. */
  readonly policy: string;
  readonly rules: string;
  readonly session: string;
  readonly title: string;
  readonly turns: string;
  readonly timeout: string;
  readonly experimental: readonly string[];
  readonly mcp: string;
  readonly env: string;
  readonly attachments: readonly Attachment[];
}

/** Writes something into the draft. */
export type Change = (changed: Partial<Draft>) => void;

export type Problems = Partial<Record<FieldName, string>>;

export const EMPTY: Draft = {
  prompt: "",
  agent: "native",
  model: "",
  path: "",
  mode: "in_place",
  budget: "",
  policy: "",
  rules: "",
  session: "",
  title: "",
  turns: "",
  timeout: "",
  experimental: [],
  mcp: "",
  env: "",
  attachments: [],
};

/** The value of `policy` that stands for rules of one's own. */
export const OWN_RULES = "rules";

/** What is sent for a draft, or what is wrong with it; the gateway has the last word on everything else. */
export function written(draft: Draft): { body: Record<string, unknown>; problems: Problems } {
  const problems: Problems = {};
  const body: Record<string, unknown> = { prompt: draft.prompt, agent: draft.agent };
  if (draft.prompt.trim() === "") problems.prompt = "Say what is to be done.";
  put(body, "model", draft.model);
  put(body, "session_id", draft.session);
  put(body, "title", draft.title);
  body.workspace = draft.mode === "scratch" ? { mode: "scratch" } : { path: draft.path.trim(), mode: draft.mode };
  if (draft.mode !== "scratch" && draft.path.trim() === "") {
    problems.path = "Name a folder, or choose an empty one above.";
  }
  const budget = micros(draft.budget);
  if (Number.isNaN(budget)) problems.budget = "An amount such as 2.50 is wanted.";
  else if (budget !== null) body.budget_micros_usd = budget;
  whole(draft.turns, "max_turns", "turns", body, problems);
  whole(draft.timeout, "timeout_s", "timeout", body, problems);
  if (draft.policy === OWN_RULES) put(body, "policy", parsed(draft.rules, "rules", problems));
  else put(body, "policy", draft.policy);
  if (draft.mcp.trim() !== "") put(body, "mcp_servers", servers(parsed(draft.mcp, "mcp", problems)));
  const env = variables(draft.env, problems);
  if (Object.keys(env).length > 0) body.env = env;
  if (draft.experimental.length > 0) body.experimental = draft.experimental;
  if (draft.attachments.length > 0) {
    body.attachments = sentOf(draft.attachments);
  }
  return { body, problems };
}

/** The field that a refusal speaks of, by its code and by what it says of the body's field. */
export function fieldOf(code: string, details: Readonly<Record<string, unknown>>): FieldName | null {
  const byCode = BY_CODE.get(code);
  if (byCode !== undefined) return byCode;
  const place = typeof details.field === "string" ? details.field : "";
  if (place === "workspace.mode") return "mode";
  return BY_BODY.get(place.split(/[.[]/, 1)[0] ?? "") ?? null;
}

const BY_CODE = new Map<string, FieldName>([
  ["agent_unknown", "agent"],
  ["model_unknown", "model"],
  ["price_unknown", "budget"],
  ["workspace_invalid", "path"],
]);

const BY_BODY = new Map<string, FieldName>([
  ["prompt", "prompt"],
  ["agent", "agent"],
  ["model", "model"],
  ["workspace", "path"],
  ["budget_micros_usd", "budget"],
  ["policy", "policy"],
  ["session_id", "session"],
  ["title", "title"],
  ["max_turns", "turns"],
  ["timeout_s", "timeout"],
  ["experimental", "experimental"],
  ["mcp_servers", "mcp"],
  ["env", "env"],
  ["attachments", "attachments"],
]);

function put(body: Record<string, unknown>, name: string, value: unknown): void {
  const said = typeof value === "string" ? value.trim() : value;
  if (said !== "" && said !== undefined) body[name] = said;
}

function whole(typed: string, name: string, field: FieldName, body: Record<string, unknown>, problems: Problems): void {
  const text = typed.trim();
  if (text === "") return;
  if (/^[1-9]\d{0,8}$/.test(text)) body[name] = Number(text);
  else problems[field] = "A whole number above 0 is wanted.";
}

/** An object in JSON; nothing, and a problem, when it is none. */
function parsed(text: string, field: FieldName, problems: Problems): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    if (isObject(found)) return found;
    problems[field] = "A JSON object is wanted: { … }.";
  } catch (failure) {
    problems[field] = `This is not JSON: ${failure instanceof Error ? failure.message : ""}`;
  }
  return undefined;
}

/** The servers alone, also out of a whole configuration file of another agent. */
function servers(found: Record<string, unknown> | undefined): unknown {
  const inside = found?.mcpServers ?? found?.mcp_servers;
  return isObject(inside) ? inside : found;
}

function variables(typed: string, problems: Problems): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of typed.split("\n")) {
    if (line.trim() === "") continue;
    const [name = "", ...rest] = line.split("=");
    if (rest.length === 0) problems.env = `NAME=value is wanted, not “${line.trim()}”.`;
    else found[name.trim()] = rest.join("=");
  }
  return found;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
