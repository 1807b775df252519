/** What an agent wrote, so that it cannot hide, reorder or turn around what it says. */

// Controls, line and paragraph separators, direction marks and overrides, invisible joiners and tags.
const UNSAFE = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
// What turns the text behind it round. The marks that texts from right to left need turn nothing by themselves.
const TURNING = /([\u202a-\u202e\u2066-\u2069])/g;
const SPACE = /\p{White_Space}+/gu;
const HALF = /[\ud800-\udbff]$/;
const WIDTH = 400;

/** The text with every character that could change how others are shown written as its number. */
export function plain(text: string): string {
  return text.replace(UNSAFE, spelled);
}

/** A longer text, in which only what turns letters round is written as its number: joined emoji and lines stay. */
export function upright(text: string): string {
  return text.replace(TURNING, spelled);
}

/** The text in pieces, of which every second one turns what is behind it round: each can be kept to itself. */
export function turns(text: string): readonly string[] {
  return text.split(TURNING);
}

/** The beginning of a text on one safe line, with runs of space made one. */
export function oneLine(text: string): string {
  const short = text
    .slice(0, 4 * WIDTH)
    .replace(SPACE, " ")
    .trim();
  return plain(short.length <= WIDTH ? short : `${short.slice(0, WIDTH - 1).replace(HALF, "")}…`);
}

function spelled(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
