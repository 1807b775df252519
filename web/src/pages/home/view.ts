/** Panes or dense rows, as this browser likes it. */
import { signal } from "@preact/signals";

export type View = "grid" | "rows";

const KEY = "runwire.home.view";

export const view = signal<View>(localStorage.getItem(KEY) === "rows" ? "rows" : "grid");

/** The other one. */
export function nextView(): void {
  view.value = view.value === "grid" ? "rows" : "grid";
  localStorage.setItem(KEY, view.value);
}
