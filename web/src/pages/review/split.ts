/** One column or two: what the reader chose, as far as the window is wide enough for it. */
import { computed, signal } from "@preact/signals";

const KEY = "runwire.split";

const chosen = signal(localStorage.getItem(KEY) === "yes");
const wide = matchMedia("(width > 800px)");
const isWide = signal(wide.matches);
wide.addEventListener("change", () => {
  isWide.value = wide.matches;
});
const split = computed(() => chosen.value && isWide.value);

/** Whether there are two columns. */
export function useSplit(): boolean {
  return split.value;
}

/** Keep the choice in this browser. */
export function keepSplit(two: boolean): void {
  chosen.value = two;
  localStorage.setItem(KEY, two ? "yes" : "no");
}
