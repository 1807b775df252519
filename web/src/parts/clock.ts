/** The time now, told once a second while somebody shows an age. Where the past is shown, it is a moment of the past. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

let timer: ReturnType<typeof setInterval> | undefined;

export const nowMs = signal(Date.now(), {
  watched() {
    // Not at once: whoever asks is in the middle of drawing.
    queueMicrotask(tick);
    timer = setInterval(tick, 1_000);
  },
  unwatched() {
    clearInterval(timer);
  },
});

/** The clock by which what is below is drawn. */
export const Clock = createContext<ReadonlySignal<number>>(nowMs);

/** The moment that is shown here, in milliseconds since 1970. */
export function useNow(): number {
  return useContext(Clock).value;
}

function tick(): void {
  if (!document.hidden) nowMs.value = Date.now();
}
