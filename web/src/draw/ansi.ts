/** What a terminal would show of a tool's output: colours as classes of the theme, everything else as text. */
import { AnsiUp } from "ansi_up";
import { purifyPrinted, type Safe } from "./purify";

// The colours that the theme has, as the terminal means them, for those it has not.
const NEAREST: readonly (readonly [name: string, red: number, green: number, blue: number])[] = [
  ["black", 0, 0, 0],
  ["red", 205, 0, 0],
  ["green", 0, 205, 0],
  ["yellow", 205, 205, 0],
  ["blue", 0, 0, 238],
  ["magenta", 205, 0, 205],
  ["cyan", 0, 205, 205],
  ["white", 229, 229, 229],
];

// An output that grows is drawn in parts of about this many characters, of which only the last one changes.
const PART_CHARS = 4_000;
const KEPT = 200;
// So many changes of colour are carried from one part into the next.
const CARRIED = 8;

const drawn = new Map<string, Safe>();

/** The output in parts, in order, each with the colours that it begins with. */
export function ansiParts(text: string): readonly string[] {
  let carry = "";
  return parts(text).map((part) => {
    const whole = carry + part;
    carry = (whole.match(COLOURS) ?? []).slice(-CARRIED).join("").replace(TAKEN_BACK, "");
    return whole;
  });
}

/** Whether the HTML of a part is at hand. */
export function isDrawn(part: string): boolean {
  return drawn.has(part);
}

/** Whole lines, so many that they are worth a part of their own. */
function parts(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  while (text.length - from > PART_CHARS) {
    const end = text.indexOf("\n", from + PART_CHARS);
    if (end === -1) break;
    found.push(text.slice(from, end + 1));
    from = end + 1;
  }
  found.push(text.slice(from));
  return found;
}

/** The HTML of a part. Lines that were written over show their last writing. */
export function ansi(text: string): Safe {
  const known = drawn.get(text);
  if (known !== undefined) return known;
  const made = draw(text);
  const oldest = drawn.size < KEPT ? undefined : drawn.keys().next().value;
  if (oldest !== undefined) drawn.delete(oldest);
  drawn.set(text, made);
  return made;
}

function draw(text: string): Safe {
  const up = new AnsiUp();
  up.use_classes = true;
  // These become classes below: the page takes no style from a string.
  up.boldStyle = "bold";
  up.faintStyle = "faint";
  up.italicStyle = "italic";
  up.underlineStyle = "underline";
  const html = up.ansi_to_html(visible(text)).replaceAll("\x07", "");
  return purifyPrinted(html.replace(SPAN, classed));
}

// The marks that ansi_up makes; a "<" of the output itself is "&lt;" by then.
const SPAN = /<span(?: style="([^"]*)")?(?: class="([^"]*)")?>/g;
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const COLOURS = /\x1b\[[\d;:]*m/g;
const TAKEN_BACK = /^.*\x1b\[0?m/s;
const CONTROLS = /[\x00-\x06\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
// Titles and the like, which nobody sees; links are kept.
const UNSEEN = /\x1b\](?!8;)[^\x07\x1b]*(?:\x07|\x1b\\)/g;
// One that does not end would take everything behind it away.
const ENDLESS = /\x1b\](?![^\x07\x1b]*(?:\x07|\x1b\\))/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: these are what is looked for.

function visible(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n").map(lastWriting);
  return lines.join("\n").replace(CONTROLS, "").replace(UNSEEN, "").replace(ENDLESS, "]");
}

function lastWriting(line: string): string {
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  const start = line.lastIndexOf("\r", end - 1);
  return start === -1 || end === 0 ? line.slice(0, end) : line.slice(start + 1, end);
}

function classed(_: string, style: string | undefined, known: string | undefined): string {
  const names = known === undefined ? [] : known.split(" ");
  for (const word of (style ?? "").split(";")) {
    const colour = /^(background-)?color:rgb\((\d+),(\d+),(\d+)\)$/.exec(word);
    if (colour === null) names.push(word);
    else
      names.push(`ansi-${nearest(Number(colour[2]), Number(colour[3]), Number(colour[4]))}-${colour[1] ? "bg" : "fg"}`);
  }
  return `<span class="${names.filter(Boolean).join(" ")}">`;
}

function nearest(red: number, green: number, blue: number): string {
  let best = "white";
  let least = Number.POSITIVE_INFINITY;
  for (const [name, r, g, b] of NEAREST) {
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}
