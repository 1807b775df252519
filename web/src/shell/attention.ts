/** Who needs somebody: told in the title of the page, and, when asked for, by the browser. */
import { effect, signal } from "@preact/signals";
import { go } from "../parts/route";
import { plain } from "../text/harmless";
import { holds } from "../wire/live";
import { changes, panes } from "../wire/panes";
import type { Pane } from "../wire/resources/runs";

const KEY = "runwire.notify";

/** Whether notifications are wanted and allowed here. */
export const notifying = signal(localStorage.getItem(KEY) === "on" && permitted());

/** Whether this browser could notify at all. */
export function canNotify(): boolean {
  return "Notification" in window && Notification.permission !== "denied";
}

/** Want them or not; the browser asks the person the first time. */
export async function wantNotifying(wanted: boolean): Promise<boolean> {
  const allowed = wanted && (permitted() || (await Notification.requestPermission()) === "granted");
  if (allowed) localStorage.setItem(KEY, "on");
  else localStorage.removeItem(KEY);
  notifying.value = allowed;
  return allowed;
}

/** What of a run needs somebody, in a word that changes when it is something else; empty: nothing. */
export function needOf(pane: Pane): string {
  if (!pane.attention) return "";
  if (pane.pending_approval_ids.length > 0) return pane.pending_approval_ids.join();
  return pane.stalled ? "stalled" : pane.state;
}

/** The runs that did not need this before: seen without it, or new since the page began. What is old news is left out. */
export function newlyNeeding(
  now: readonly Pane[],
  before: ReadonlyMap<string, string>,
  beganMs: number,
): readonly Pane[] {
  return now.filter((pane) => {
    const need = needOf(pane);
    const known = before.get(pane.run_id);
    if (need === "" || need === known) return false;
    return known !== undefined || Date.parse(pane.last_event_at) > beganMs;
  });
}

/** How many live runs wait for somebody. Those that failed wait for nobody. */
export function waitingRuns(now: readonly Pane[]): number {
  return now.filter((pane) => pane.attention && pane.status !== "failed").length;
}

/** Begin to tell. */
export function showAttention(): void {
  const beganMs = Date.now();
  let before = new Map<string, string>();
  effect(() => {
    changes.value;
    const now = panes();
    const waiting = waitingRuns(now);
    document.title = waiting === 0 ? "Runwire" : `(${waiting}) Runwire`;
    const fresh = newlyNeeding(now, before, beganMs);
    before = new Map(now.map((pane) => [pane.run_id, needOf(pane)]));
    // One tab tells for all, and nobody needs to be told of what is in front of them.
    if (notifying.peek() && holds.peek() && !document.hasFocus()) for (const pane of fresh) notify(pane);
  });
  addEventListener("storage", ({ key, newValue }) => {
    if (key === KEY) notifying.value = newValue === "on" && permitted();
  });
}

function notify(pane: Pane): void {
  try {
    const shown = new Notification(plain(`${pane.agent}: ${pane.title}`), {
      body: plain(pane.reason),
      tag: pane.run_id,
    });
    shown.onclick = () => {
      window.focus();
      go(`runs/${pane.run_id}`);
      shown.close();
    };
  } catch {
    // Some browsers of phones have the name and refuse the deed; the title still tells.
    notifying.value = false;
  }
}

function permitted(): boolean {
  return "Notification" in window && Notification.permission === "granted";
}
