/** The end of a tool's output: enough to see what it is doing. */
import type { Piece } from "../draw/Printed";

const LINES = 6;
const CHARS = 2_000;

/** The last lines, each piece with its stream. */
export function tailOf(pieces: readonly Piece[]): readonly Piece[] {
  const tail: Piece[] = [];
  let lines = LINES;
  let chars = CHARS;
  for (let place = pieces.length - 1; place >= 0 && lines > 0 && chars > 0; place -= 1) {
    const piece = pieces[place];
    if (piece === undefined) break;
    // A line feed at the very end ends a line; it does not begin one.
    const trimmed = tail.length === 0 ? piece.text.slice(-CHARS).trimEnd() : piece.text;
    if (trimmed === "") continue;
    const kept = lastLines(trimmed.slice(-chars), lines);
    tail.unshift({ stream: piece.stream, text: kept });
    lines -= kept.split("\n").length - 1;
    chars -= kept.length;
    if (kept.length < trimmed.length) break;
  }
  return tail;
}

function lastLines(text: string, lines: number): string {
  let from = text.length;
  for (let left = lines; left > 0 && from !== -1; left -= 1) from = from === 0 ? -1 : text.lastIndexOf("\n", from - 1);
  return from === -1 ? text : text.slice(from + 1);
}
