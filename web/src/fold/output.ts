/** The end of what a tool printed, however much that is. */
import type { Output } from "./blocks";

/** No more than this is kept of one call. */
export const KEPT_CHARS = 65_536;

export function noOutput(): Output {
  return { pieces: [], chars: 0, kept: 0, cut: false };
}

/** Put what was printed next to the end; when it gets too much, let the beginning go, by whole lines if there are any. */
export function print(output: Output, stream: "stdout" | "stderr", text: string): void {
  if (text === "") return;
  output.chars += text.length;
  output.kept += text.length;
  const last = output.pieces.at(-1);
  if (last?.stream === stream) last.text += text;
  else output.pieces.push({ stream, text });
  if (output.kept > KEPT_CHARS) shorten(output);
}

/** A twin that can be printed to without changing this one. */
export function copied(output: Output): Output {
  return { ...output, pieces: output.pieces.map((piece) => ({ ...piece })) };
}

// Down to a half at once, so that what is printed in small pieces is not copied whole for each of them.
function shorten(output: Output): void {
  let surplus = output.kept - KEPT_CHARS / 2;
  let gone = 0;
  for (const piece of output.pieces) {
    if (piece.text.length > surplus) {
      const end = piece.text.indexOf("\n", surplus - 1) + 1;
      surplus = end > 0 && end < piece.text.length ? end : surplus;
      piece.text = piece.text.slice(surplus);
      break;
    }
    surplus -= piece.text.length;
    gone += 1;
  }
  output.pieces.splice(0, gone);
  output.kept = output.pieces.reduce((sum, piece) => sum + piece.text.length, 0);
  output.cut = true;
}
