/** The time now, told once a second while somebody shows an age. */
import { signal } from "@preact/signals";

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

function tick(): void {
  if (!document.hidden) nowMs.value = Date.now();
}
