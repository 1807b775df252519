/** Which words of a changed line differ from the line that it was. Worked out when the line is looked at. */
import { diffWordsWithSpace } from "diff";
import type { Line } from "./hunks";

export interface Mark {
  readonly text: string;
  readonly differs: boolean;
}

const MAX_CHARS = 1_000;
const MAX_EDITS = 120;
// Where nearly everything differs, marks say nothing.
const MAX_SHARE = 0.7;

const known = new WeakMap<Line, readonly Mark[]>();

/** The line in pieces; one piece if there is nothing to point at. */
export function marksOf(line: Line): readonly Mark[] {
  const found = known.get(line) ?? compare(line);
  known.set(line, found);
  return found;
}

function compare(line: Line): readonly Mark[] {
  const whole = [{ text: line.text, differs: false }];
  const { twin } = line;
  if (twin === null || line.text.length > MAX_CHARS || twin.text.length > MAX_CHARS) return whole;
  const [before, after] = line.sign === "-" ? [line.text, twin.text] : [twin.text, line.text];
  const pieces = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS });
  if (pieces === undefined) return whole;
  const mine = pieces
    .filter((piece) => (line.sign === "-" ? !piece.added : !piece.removed))
    .map((piece) => ({ text: piece.value, differs: piece.added || piece.removed }));
  const joined = mine.map((piece, place) => ({ ...piece, differs: piece.differs || isBetween(mine, place) }));
  const differing = joined.reduce((sum, piece) => sum + (piece.differs ? piece.text.trim().length : 0), 0);
  return differing > line.text.trim().length * MAX_SHARE ? whole : joined;
}

/** A space between two words that differ: three marks in a row would be harder to read than one. */
function isBetween(pieces: readonly Mark[], place: number): boolean {
  if (pieces[place]?.text.trim() !== "") return false;
  return (pieces[place - 1]?.differs ?? false) && (pieces[place + 1]?.differs ?? false);
}
