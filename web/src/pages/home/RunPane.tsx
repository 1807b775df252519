/** One run at a glance: what it does now, since when, what it has cost, and whether somebody must look. */

import { Ago } from "../../parts/Ago";
import { Budget } from "../../parts/Budget";
import { nowMs } from "../../parts/clock";
import { to } from "../../parts/route";
import { State } from "../../parts/State";
import { plain } from "../../text/harmless";
import { duration, modelName, moment, short } from "../../text/words";
import { pane as paneOf } from "../../wire/panes";
import type { Pane } from "../../wire/resources/runs";
import { may } from "../../wire/scopes";
import { canBeSeen, markSeen } from "./seen";

export function RunPane({ runId, onDecide }: { runId: string; onDecide: (pane: Pane) => void }) {
  const pane = paneOf(runId);
  if (pane === undefined) return null;
  const waits = pane.pending_approval_ids.length;
  return (
    <li class={`home-pane ${pane.stalled ? "stalled" : pane.state}`} data-run={pane.run_id}>
      <div class="home-top">
        <State state={pane.state} stalled={pane.stalled} />
        <span class="home-agent" title={pane.model ?? undefined}>
          {plain(pane.agent)}
          {pane.model !== null && <span class="home-model"> · {plain(modelName(pane.model))}</span>}
        </span>
        {pane.demo && <span class="demo-mark">demo</span>}
        {pane.parent_run_id !== null && <span class="demo-mark home-part">part of {short(pane.parent_run_id)}</span>}
      </div>
      <h3 class="home-title">
        <a href={to(`runs/${pane.run_id}`)}>{plain(pane.title) || short(pane.run_id)}</a>
      </h3>
      <p class="home-doing">{plain(wordOf(pane))}</p>
      <div class="home-facts">
        <Since pane={pane} />
        <Budget spent={pane.cost_micros_usd} budget={pane.budget_micros_usd} />
        {waits > 0 && may("operate") && (
          <button type="button" class="primary home-decide" onClick={() => onDecide(pane)}>
            Decide{waits > 1 ? ` (${waits})` : ""}
          </button>
        )}
        {canBeSeen(pane) && (
          <button
            type="button"
            class="home-decide"
            aria-label={`Mark as seen: ${plain(pane.title) || short(pane.run_id)}`}
            title="It leaves “Needs attention” in this browser (m)"
            onClick={() => markSeen([pane.run_id])}
          >
            Seen
          </button>
        )}
      </div>
    </li>
  );
}

/** Why somebody is needed; else what it does. */
function wordOf(pane: Pane): string {
  if (pane.attention) return pane.reason;
  return pane.status === "queued" ? "waits for a free worker" : pane.doing;
}

/** How long it has been at what it does; or how long ago it ended. */
function Since({ pane }: { pane: Pane }) {
  if (pane.finished_at !== null) {
    return (
      <span class="home-since">
        ended <Ago at={pane.finished_at} />
      </span>
    );
  }
  const at = pane.since ?? pane.last_event_at;
  return (
    <time class="home-since" dateTime={at} title={moment(at)}>
      for {duration(Math.max(1_000, nowMs.value - Date.parse(at)))}
    </time>
  );
}
