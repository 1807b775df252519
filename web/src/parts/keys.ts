/** What keys do. Pages say what they offer while they are open; the overlay shows exactly that. */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export interface Key {
  /** As `KeyboardEvent.key` spells it, or two in a row such as "g h". */
  readonly keys: string;
  /** What it does, for the overlay. */
  readonly about: string;
  /** Under which heading the overlay shows it. */
  readonly group: string;
  readonly act: () => void;
}

// So long a first key waits for a second one.
const SEQUENCE_MS = 900;

/** Everything that works now, the newest page's last. */
export const keys = signal<readonly Key[]>([]);

let before: { key: string; at: number } | null = null;

/** Offer keys while this component is shown. */
export function useKeys(offered: readonly Key[], dependencies: readonly unknown[]): void {
  // At once: a key that follows quickly must not meet what was offered before.
  useLayoutEffect(() => {
    keys.value = [...keys.value, ...offered];
    return () => {
      keys.value = keys.value.filter((key) => !offered.includes(key));
    };
  }, dependencies);
}

/** Listen to the keyboard, once, for the whole page. */
export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target) || (event.key === "Enter" && isPressed(event.target))) return;
    const now = Date.now();
    const pair = before !== null && now - before.at < SEQUENCE_MS ? `${before.key} ${event.key}` : null;
    const found = find(pair) ?? find(event.key);
    before = found === undefined ? { key: event.key, at: now } : null;
    if (found === undefined) return;
    event.preventDefault();
    found.act();
  });
}

function find(wanted: string | null): Key | undefined {
  return wanted === null ? undefined : keys.value.findLast((key) => key.keys === wanted);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (document.querySelector("dialog[open]")?.contains(target)) return true;
  // Letters mean nothing to a box that is ticked.
  if (target instanceof HTMLInputElement && ["radio", "checkbox"].includes(target.type)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** Whether Enter presses what has the focus, which is then what is meant. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && ["A", "BUTTON", "SUMMARY"].includes(target.tagName);
}
