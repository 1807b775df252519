/** The time now, told once a second to whoever shows an age. */
import { signal } from "@preact/signals";

export const nowMs = signal(Date.now());

setInterval(() => {
  if (!document.hidden) nowMs.value = Date.now();
}, 1_000);
