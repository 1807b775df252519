/** What somebody chose the last time, kept in this browser: no prompt, no rules, nothing secret. */
import { type Draft, EMPTY, type Mode } from "./draft";

const KEY = "runwire.start";
const KEPT = ["agent", "model", "path", "mode", "policy"] as const;
const MODES: readonly string[] = ["in_place", "worktree", "clone", "scratch"] satisfies readonly Mode[];

/** A draft to begin with: the habits, then what the link says. */
export function begun(query: URLSearchParams): Draft {
  const kept = read();
  const link: Record<string, string> = {};
  for (const name of ["prompt", "agent", "model", "path", "mode", "session"]) {
    const said = query.get(name);
    if (said !== null) link[name] = said;
  }
  const found = { ...kept, ...link };
  return { ...EMPTY, ...found, mode: isMode(found.mode) ? found.mode : EMPTY.mode };
}

/** Keep the choices for the next time. */
export function keep(draft: Draft): void {
  const kept = Object.fromEntries(KEPT.map((name) => [name, draft[name]]));
  // Rules are not kept, so neither is the wish for them.
  if (kept.policy === "rules") kept.policy = "";
  localStorage.setItem(KEY, JSON.stringify(kept));
}

function read(): Record<string, string> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof found !== "object" || found === null) return {};
    const known = Object.entries(found).filter(
      (entry): entry is [string, string] => KEPT.some((name) => name === entry[0]) && typeof entry[1] === "string",
    );
    return Object.fromEntries(known);
  } catch {
    return {};
  }
}

function isMode(value: string | undefined): value is Mode {
  return value !== undefined && MODES.includes(value);
}
