/** Which hunks have been read, kept in this browser. A patch never changes, so its name is enough. */
import { signal } from "@preact/signals";

const KEY = "runwire.read";
const KEPT = 500;
const NONE: ReadonlySet<number> = new Set();

type Marks = ReadonlyMap<string, ReadonlySet<number>>;

const marks = signal<Marks>(stored());

/** The hunks of a patch that have been read. */
export function readHunks(artifactId: string): ReadonlySet<number> {
  return marks.value.get(artifactId) ?? NONE;
}

/** Mark hunks of a patch as read, or as not read. */
export function markHunks(artifactId: string, hunks: readonly number[], read: boolean): void {
  const next = new Map(marks.value);
  const mine = new Set(next.get(artifactId));
  for (const hunk of hunks) {
    if (read) mine.add(hunk);
    else mine.delete(hunk);
  }
  next.delete(artifactId);
  if (mine.size > 0) next.set(artifactId, mine);
  const oldest = next.size > KEPT ? next.keys().next().value : undefined;
  if (oldest !== undefined) next.delete(oldest);
  marks.value = next;
  localStorage.setItem(KEY, JSON.stringify([...next].map(([id, read]) => [id, [...read]])));
}

function stored(): Marks {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Map(Array.isArray(kept) ? kept.filter(isMark).map(([id, hunks]) => [id, new Set(hunks)]) : []);
  } catch {
    return new Map();
  }
}

function isMark(value: unknown): value is [string, number[]] {
  return Array.isArray(value) && typeof value[0] === "string" && Array.isArray(value[1]);
}
