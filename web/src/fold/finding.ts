/** Finding events among those that are stored: by patterns of their types, and by words in what they say. */
import type { Envelope, Told } from "../wire/events";

export interface TypeFilter {
  fits(type: string): boolean;
  /** Why the text is no filter, in which case nothing fits; null if it is one. */
  readonly wrong: string | null;
}

export interface Wanted {
  /** A comma list of patterns; empty for every type. */
  readonly types: string;
  /** Words as they stand in the event, large or small; empty for every event. */
  readonly text: string;
}

const PATTERN = /^[a-z0-9_.*]+$/;
const SPECIAL = /[\\^$.*+?()[\]{}|/]/g;

/** A filter of types such as `tool.shell.*,run.*`; `*` stands for any text, dots included. Empty text lets all pass. */
export function typeFilter(text: string): TypeFilter {
  if (text.trim() === "") return { fits: () => true, wrong: null };
  const patterns = text.split(",").map((pattern) => pattern.trim());
  const odd = patterns.find((pattern) => !PATTERN.test(pattern));
  if (odd !== undefined) {
    const wrong = `“${odd}” is not a type pattern: use names such as run.started and * for any text`;
    return { fits: () => false, wrong };
  }
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const wild = patterns.filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split("*"));
  return { fits: (type) => exact.has(type) || wild.some((parts) => fitsParts(type, parts)), wrong: null };
}

/** The indexes, from `from` on, of the lines that are wanted. */
export function find(lines: readonly Told[], { types, text }: Wanted, from = 0): number[] {
  const { fits } = typeFilter(types);
  const words = text === "" ? null : new RegExp(text.replace(SPECIAL, "\\$&"), "iu");
  const found: number[] = [];
  for (let index = from; index < lines.length; index += 1) {
    const event = lines[index]?.event;
    if (event !== undefined && fits(event.type) && (words === null || says(event, words))) found.push(index);
  }
  return found;
}

/** Whether the words stand in the type, the id or any value; names of fields do not count, they are in every event. */
function says(event: Envelope, words: RegExp): boolean {
  if (words.test(event.type) || words.test(event.event_id)) return true;
  // By hand, because data may be nested deeper than the stack is.
  const left: unknown[] = [event.data];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string" || typeof value === "number") {
      if (words.test(String(value))) return true;
    } else if (typeof value === "object" && value !== null) {
      for (const inner of Object.values(value)) left.push(inner);
    }
  }
  return false;
}

// Taking each part at its first place is enough for `*`, and unlike a regular expression it never backtracks.
function fitsParts(name: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const place = name.indexOf(part, at);
    if (place < 0 || place + part.length > end) return false;
    at = place + part.length;
  }
  return true;
}
