/**
 * Text that somebody decides about. Characters that hide, reorder or move text, and spaces that only look like one, are
 * told by their number and marked: a command could spell such a number itself, but not the mark.
 */

export interface Piece {
  readonly text: string;
  /** Whether it stands for a character that cannot be seen. */
  readonly told: boolean;
}

// Control characters but tab and line feed, marks that turn the direction of writing, and those of no width.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164\uffa0\u2800]/gu;

/** The text in pieces; what cannot be seen is spelled out. */
export function visible(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    const [character] = found;
    if (character === "\n" || character === "\t") continue;
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), told: false });
    pieces.push({ text: spelled(character), told: true });
    from = found.index + character.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), told: false });
  return pieces;
}

function spelled(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `\\u{${code.toString(16)}}`;
}
