/** Which failed runs somebody has seen, kept in this browser: a failure that is known needs no attention any more. */
import { signal } from "@preact/signals";
import type { Pane } from "../../wire/resources/runs";

const KEY = "runwire.seen";
const KEPT = 1_000;

const seen = signal(stored());
addEventListener("storage", ({ key }) => {
  if (key === KEY) seen.value = stored();
});

/** Whether a run asks for nothing but to be seen. */
export function canBeSeen(pane: Pane): boolean {
  return pane.attention && pane.status === "failed" && !seen.value.has(pane.run_id);
}

/** The pane, without its call for attention if that has been heard. */
export function heeded(pane: Pane): Pane {
  return pane.attention && pane.status === "failed" && seen.value.has(pane.run_id)
    ? { ...pane, attention: false }
    : pane;
}

/** These have been seen. */
export function markSeen(runIds: readonly string[]): void {
  seen.value = new Set([...seen.value, ...runIds].slice(-KEPT));
  localStorage.setItem(KEY, JSON.stringify([...seen.value]));
}

function stored(): ReadonlySet<string> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Set(Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : []);
  } catch {
    return new Set();
  }
}
