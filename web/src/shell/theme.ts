/** Light, dark, or as the system has it. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "runwire.theme";
const kept = localStorage.getItem(KEY);

export const theme = signal<Theme>(kept === "light" || kept === "dark" ? kept : "system");

/** Keep the choice and show it, now and whenever it changes. */
export function showTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    if (theme.value === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme.value);
  });
}

/** The next of the three. */
export function nextTheme(): void {
  theme.value = theme.value === "system" ? "light" : theme.value === "light" ? "dark" : "system";
}
