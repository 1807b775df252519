/** Data that nobody has taught the console to draw, as it is. */
import { upright } from "../text/harmless";

const MAX_CHARS = 50_000;

export function Json({ value }: { value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? "";
  const shown = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}\n…` : text;
  return <pre class="draw-json">{upright(shown)}</pre>;
}
