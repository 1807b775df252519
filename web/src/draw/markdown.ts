/** Finished Markdown as safe HTML. HTML inside it is shown as text, and pictures as links: nothing is loaded. */
import { Marked, type Token, type Tokens } from "marked";
import { purifyProse, type Safe } from "./purify";

// Longer text is not worth the wait; it is shown as it is.
const MAX_CHARS = 200_000;
// A part is drawn within a frame.
const PART_CHARS = 4_000;
// As many lines as are laid out within a frame or two; one that is longer than that is cut.
const LINES = /.{1,16000}(?:\n|$)|.{16000}/gs;
const KEPT = 400;
// The page has its own headings above these.
const FIRST_HEADING = 3;

const reader = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    image: ({ href, text }: Tokens.Image) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    heading({ tokens, depth }: Tokens.Heading) {
      const level = headingLevel(depth);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
  },
});

const drawn = new Map<string, readonly Part[]>();

/** A piece of a text: whole paragraphs, lists and the like. */
export interface Part {
  /** Its HTML. It is made when it is first asked for, and kept. */
  html(): Safe;
  readonly isMade: boolean;
}

/** The HTML of a text, in parts that can be drawn one after the other; what was drawn lately is kept. */
export function markdown(text: string): readonly Part[] {
  const known = drawn.get(text);
  if (known !== undefined) return known;
  const made = partsOf(text);
  const oldest = drawn.size < KEPT ? undefined : drawn.keys().next().value;
  if (oldest !== undefined) drawn.delete(oldest);
  drawn.set(text, made);
  return made;
}

/** The level that a heading of this depth has in the page. */
export function headingLevel(depth: number): number {
  return Math.min(6, depth + FIRST_HEADING - 1);
}

function partsOf(text: string): readonly Part[] {
  if (text.length > MAX_CHARS) return (text.match(LINES) ?? []).map((lines) => partOf(() => asItIs(lines)));
  try {
    return grouped(reader.lexer(text)).map((tokens) => partOf(() => rendered(tokens)));
  } catch {
    // Nested beyond reason: it stays readable.
    return [partOf(() => asItIs(text))];
  }
}

/** So many tokens together that they are worth a part. */
function grouped(tokens: readonly Token[]): readonly Token[][] {
  const groups: Token[][] = [];
  let chars = PART_CHARS;
  for (const token of tokens) {
    if (chars >= PART_CHARS) {
      groups.push([]);
      chars = 0;
    }
    groups.at(-1)?.push(token);
    chars += token.raw.length;
  }
  return groups;
}

function partOf(draw: () => string): Part {
  let made: Safe | null = null;
  return {
    html() {
      made ??= purifyProse(draw());
      return made;
    },
    get isMade() {
      return made !== null;
    },
  };
}

function rendered(tokens: Token[]): string {
  try {
    return reader.parser(tokens);
  } catch {
    return asItIs(tokens.map(({ raw }) => raw).join(""));
  }
}

function asItIs(text: string): string {
  return `<pre>${escaped(text)}</pre>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
