/** Short words about what has just happened, spoken to screen readers too. */
import { signal } from "@preact/signals";
import { Refusal } from "../wire/api";

export interface Toast {
  readonly id: number;
  readonly level: "info" | "error";
  readonly text: string;
}

const SHOWN_MS = 6_000;

export const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Say something for a few seconds. */
export function say(text: string, level: Toast["level"] = "info"): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value, { id, level, text }].slice(-4);
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS);
}

/** Say why something could not be done. */
export function sayFailure(failure: unknown): void {
  const message = failure instanceof Error ? failure.message : String(failure);
  say(failure instanceof Refusal && failure.hint ? `${sentence(message)} ${sentence(failure.hint)}` : message, "error");
}

/** What stands alone in other places, as a sentence among others. */
function sentence(words: string): string {
  const begun = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
