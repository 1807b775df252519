/** Which runs are shown, as the address says it, so that it can be sent to somebody. Pure. */
import type { Query } from "../../wire/base";
import type { Pane } from "../../wire/resources/runs";

export interface Filter {
  readonly text: string;
  readonly agent: string;
  readonly state: string;
  readonly task: string;
  readonly session: string;
}

/** What a state may be asked for by, in the order in which they matter. */
export const STATES = ["attention", "blocked", "stalled", "error", "working", "idle", "done"] as const;

/** The filter that an address asks for. */
export function readFilter(query: URLSearchParams): Filter {
  const word = (name: string) => query.get(name) ?? "";
  return {
    text: word("q"),
    agent: word("agent"),
    state: word("state"),
    task: word("task"),
    session: word("session"),
  };
}

/** Nothing is left out. */
export const NO_FILTER = { q: undefined, agent: undefined, state: undefined, task: undefined, session: undefined };

/** Whether anything is left out. */
export function isFiltering(filter: Filter): boolean {
  return Object.values(filter).some((word) => word !== "");
}

/** Whether a run is to be shown. */
export function fits(pane: Pane, filter: Filter): boolean {
  return (
    (filter.agent === "" || pane.agent === filter.agent) &&
    (filter.task === "" || pane.task_id === filter.task) &&
    (filter.session === "" || pane.session_id === filter.session) &&
    (filter.state === "" || isIn(pane, filter.state)) &&
    (filter.text === "" || holds(pane, filter.text.toLowerCase()))
  );
}

/** What to ask the gateway for, so that runs that fit are found however old they are; null when text alone is asked for. */
export function askedOf(filter: Filter): Query | null {
  const query: Query = {
    agent: filter.agent,
    task_id: filter.task,
    session_id: filter.session,
    ...(filter.state === "error" ? { status: "failed" } : {}),
  };
  return Object.values(query).some((value) => value !== "") ? query : null;
}

function isIn(pane: Pane, state: string): boolean {
  if (state === "attention") return pane.attention;
  if (state === "stalled") return pane.stalled;
  return pane.state === state;
}

function holds(pane: Pane, text: string): boolean {
  return [pane.title, pane.agent, pane.model, pane.doing, pane.reason, pane.run_id, pane.task_id].some(
    (word) => word?.toLowerCase().includes(text) === true,
  );
}
