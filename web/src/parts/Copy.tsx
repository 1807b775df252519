/** A button that copies a text and says so. */
import type { ComponentChildren } from "preact";
import { say } from "./toast";

export function Copy({ text, what, children }: { text: string; what: string; children: ComponentChildren }) {
  return (
    <button
      type="button"
      class="copy"
      title={`Copy ${what}`}
      aria-label={`Copy ${what}`}
      onClick={() => copy(text, what)}
    >
      {children}
    </button>
  );
}

/** Copy a text to the clipboard, and say whether that worked. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}.`);
  } catch {
    say(`The browser does not let a page copy ${what} here. Select it and copy it by hand.`, "error");
  }
}
