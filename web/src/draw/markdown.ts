/** Finished Markdown as safe HTML. HTML inside it is shown as text, and pictures as links: nothing is loaded. */
import { Marked, type Tokens } from "marked";
import { purifyProse, type Safe } from "./purify";

// Longer text is not worth the wait; it is shown as it is.
const MAX_CHARS = 200_000;
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

const drawn = new Map<string, Safe>();

/** The HTML of a text; what was drawn lately is kept. */
export function markdown(text: string): Safe {
  const known = drawn.get(text);
  if (known !== undefined) return known;
  const made = purifyProse(rendered(text));
  const oldest = drawn.size < KEPT ? undefined : drawn.keys().next().value;
  if (oldest !== undefined) drawn.delete(oldest);
  drawn.set(text, made);
  return made;
}

/** The level that a heading of this depth has in the page. */
export function headingLevel(depth: number): number {
  return Math.min(6, depth + FIRST_HEADING - 1);
}

function rendered(text: string): string {
  if (text.length > MAX_CHARS) return `<pre>${escaped(text)}</pre>`;
  try {
    return reader.parse(text, { async: false });
  } catch {
    // Nested beyond reason: it stays readable.
    return `<pre>${escaped(text)}</pre>`;
  }
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
