/** How the run stands at the moment that is looked at: now, as the gateway says, or in the past, as its events told. Pure. */
import type { RunFold } from "../../fold/fold";
import type { AgentState, Run, Status } from "../../wire/resources/runs";

export interface Stands {
  readonly state: AgentState;
  readonly stalled: boolean;
  /** Why somebody is needed; empty: nobody is. */
  readonly reason: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly durationMs: number | null;
  /** When that was; nothing: now. */
  readonly past: string | null;
}

/** By the rules of the gateway. Nobody knows what had stalled then: silence is seen only while it lasts. */
const STATES: Readonly<Record<Status, AgentState>> = {
  queued: "idle",
  running: "working",
  awaiting_approval: "blocked",
  completed: "done",
  failed: "error",
  cancelled: "done",
};

/** How it stands now. */
export function standsNow({ pane, started_at, finished_at, duration_ms }: Run): Stands {
  return {
    state: pane.state,
    stalled: pane.stalled,
    reason: pane.attention ? pane.reason : "",
    startedAt: started_at,
    endedAt: finished_at,
    durationMs: duration_ms,
    past: null,
  };
}

/** How it stood after the events of a fold. */
export function stoodThen(fold: RunFold): Stands {
  const [asked] = fold.pending.values();
  return {
    state: STATES[fold.status],
    stalled: false,
    reason: fold.status === "failed" ? (fold.end?.text ?? "") : (asked?.summary ?? ""),
    startedAt: fold.startedAt,
    endedAt: fold.end?.at ?? null,
    durationMs: fold.end?.durationMs ?? null,
    past: fold.lastAt,
  };
}
