/** Unified diffs, as git and others write them, taken apart. Whatever the text, it never throws. */
import { spelledOut } from "./quoted";

export type Change = "changed" | "added" | "deleted" | "renamed" | "copied";

export interface Line {
  readonly sign: " " | "+" | "-";
  readonly text: string;
  readonly old: number | null;
  readonly new: number | null;
  /** Whether no line feed follows it, at the very end of the file. */
  bare: boolean;
  /** The line that this one became, or came from. */
  twin: Line | null;
}

export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** What the hunk lies in, such as a function. */
  readonly section: string;
  readonly lines: readonly Line[];
}

export interface FileDiff {
  readonly change: Change;
  readonly oldPath: string | null;
  readonly newPath: string | null;
  readonly oldMode: string | null;
  readonly newMode: string | null;
  readonly binary: boolean;
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
}

/** All files of a diff, in its order. Text that is no diff gives none. */
export function parseDiff(text: string): readonly FileDiff[] {
  const lines = text.split("\n");
  const files: Draft[] = [];
  let draft: Draft | null = null;
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (begins(line, lines[at + 1], draft)) {
      draft = new Draft();
      files.push(draft);
    }
    at = draft === null ? at + 1 : draft.take(lines, at);
  }
  return files.map((one) => one.file()).filter((one) => one.oldPath !== null || one.newPath !== null);
}

/** The path that a person knows the file by. */
export function pathOf(file: FileDiff): string {
  return file.newPath ?? file.oldPath ?? "";
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** Whether a file begins here: git says so; of others the two names do. */
function begins(line: string, next: string | undefined, draft: Draft | null): boolean {
  if (line.startsWith("diff --git ")) return true;
  return line.startsWith("--- ") && (next?.startsWith("+++ ") ?? false) && (draft === null || draft.isNamed);
}

/** A file whose lines are being read. Lines in a hunk are counted, so none is taken for a header. */
class Draft {
  isNamed = false;
  private oldPath: string | null = null;
  private newPath: string | null = null;
  private oldMode: string | null = null;
  private newMode: string | null = null;
  private change: Change | null = null;
  private binary = false;
  private readonly hunks: Hunk[] = [];

  /** Read what begins at this line; where to go on. */
  take(lines: readonly string[], at: number): number {
    const line = lines[at] ?? "";
    const hunk = HUNK.exec(line);
    if (hunk !== null) return this.takeHunk(lines, at + 1, hunk);
    this.takeHeader(line);
    return at + 1;
  }

  file(): FileDiff {
    const count = (sign: string) =>
      this.hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.sign === sign).length, 0);
    const { oldPath, newPath, oldMode, newMode, binary, hunks } = this;
    const change = this.change ?? (oldPath === null ? "added" : newPath === null ? "deleted" : "changed");
    return {
      change,
      oldPath: change === "added" ? null : oldPath,
      newPath: change === "deleted" ? null : newPath,
      oldMode,
      newMode,
      binary,
      hunks,
      additions: count("+"),
      deletions: count("-"),
    };
  }

  private takeHeader(line: string): void {
    const header = HEADERS.find(([start]) => line.startsWith(start));
    if (header === undefined) return;
    const [start, kind] = header;
    const rest = line.slice(start.length).replace(/\r$/, "");
    switch (kind) {
      case "git":
        [this.oldPath, this.newPath] = gitPaths(rest);
        break;
      case "old":
        this.oldPath = named(rest, "a/");
        this.isNamed = true;
        break;
      case "new":
        this.newPath = named(rest, "b/");
        this.isNamed = true;
        break;
      case "binary":
        this.binary = true;
        break;
      case "oldMode":
        this.oldMode = rest;
        break;
      case "newMode":
        this.newMode = rest;
        break;
      case "added":
      case "deleted":
        this.change = kind;
        if (kind === "added") this.newMode = rest;
        else this.oldMode = rest;
        break;
      case "from":
        this.oldPath = spelledOut(rest);
        break;
      case "renamed":
      case "copied":
        this.change = kind;
        this.newPath = spelledOut(rest);
    }
  }

  private takeHunk(lines: readonly string[], from: number, header: RegExpExecArray): number {
    const [, oldStart, oldCount, newStart, newCount, section = ""] = header;
    let [old, fresh] = [Number(oldStart), Number(newStart)];
    const [oldEnd, freshEnd] = [old + Number(oldCount ?? 1), fresh + Number(newCount ?? 1)];
    const taken: Line[] = [];
    let at = from;
    while (at < lines.length && (old < oldEnd || fresh < freshEnd || (lines[at] ?? "").startsWith("\\"))) {
      const line = lines[at] ?? "";
      const sign = line[0];
      const last = taken.at(-1);
      if (sign === "\\" && last !== undefined) last.bare = true;
      else if (sign === "-") taken.push(made("-", line, old++, null));
      else if (sign === "+") taken.push(made("+", line, null, fresh++));
      else if (sign === " " || line === "") taken.push(made(" ", line, old++, fresh++));
      else break;
      at += 1;
    }
    pair(taken);
    this.hunks.push({ oldStart: Number(oldStart), newStart: Number(newStart), section, lines: taken });
    return at;
  }
}

type Kind =
  | "git"
  | "old"
  | "new"
  | "binary"
  | "oldMode"
  | "newMode"
  | "added"
  | "deleted"
  | "from"
  | "renamed"
  | "copied";

const HEADERS: readonly (readonly [start: string, kind: Kind])[] = [
  ["diff --git ", "git"],
  ["--- ", "old"],
  ["+++ ", "new"],
  ["old mode ", "oldMode"],
  ["new mode ", "newMode"],
  ["new file mode ", "added"],
  ["deleted file mode ", "deleted"],
  ["rename from ", "from"],
  ["copy from ", "from"],
  ["rename to ", "renamed"],
  ["copy to ", "copied"],
  ["GIT binary patch", "binary"],
  ["Binary files ", "binary"],
];

function made(sign: Line["sign"], line: string, old: number | null, fresh: number | null): Line {
  return { sign, text: line.slice(1), old, new: fresh, bare: false, twin: null };
}

/** What was taken out and put in at one place belongs together, line by line. */
function pair(lines: readonly Line[]): void {
  let at = 0;
  while (at < lines.length) {
    const out: Line[] = [];
    const put: Line[] = [];
    for (; lines[at]?.sign === "-"; at += 1) out.push(...lines.slice(at, at + 1));
    for (; lines[at]?.sign === "+"; at += 1) put.push(...lines.slice(at, at + 1));
    for (const [place, line] of out.entries()) {
      const twin = put[place];
      if (twin !== undefined) [line.twin, twin.twin] = [twin, line];
    }
    if (out.length + put.length === 0) at += 1;
  }
}

/** The path in `--- a/path`: without the prefix, a date behind it, or quotes; nothing for no file. */
function named(rest: string, prefix: string): string | null {
  const path = spelledOut(rest.split("\t", 1)[0] ?? "");
  if (path === "/dev/null") return null;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

/** Both paths of git's first line. They are the same unless later lines say otherwise, so the line has two halves. */
function gitPaths(rest: string): [string | null, string | null] {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(rest);
  if (quoted?.[1] !== undefined && quoted[2] !== undefined) return [named(quoted[1], "a/"), named(quoted[2], "b/")];
  const half = (rest.length - 1) / 2;
  if (!Number.isInteger(half)) return [null, null];
  return [named(rest.slice(0, half), "a/"), named(rest.slice(half + 1), "b/")];
}
