/** A run's state as a small badge: a shape and a word, never colour alone. */
import type { AgentState } from "../wire/resources/runs";

const SHAPES: Record<AgentState | "stalled", string> = {
  idle: "○",
  working: "◐",
  blocked: "!",
  done: "✓",
  error: "✕",
  stalled: "…",
};

export function State({ state, stalled = false }: { state: AgentState; stalled?: boolean }) {
  const shown = stalled ? "stalled" : state;
  return (
    <span class={`state ${shown}`}>
      <span aria-hidden="true">{SHAPES[shown]}</span> {shown}
    </span>
  );
}
