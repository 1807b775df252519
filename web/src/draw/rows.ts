/** A file's diff as rows of a table: one column of lines, or what was beside what is. */
import type { FileDiff, Line } from "./hunks";

export type Row =
  | { readonly kind: "hunk"; readonly hunk: number; readonly text: string }
  | { readonly kind: "line"; readonly hunk: number; readonly line: Line }
  | { readonly kind: "pair"; readonly hunk: number; readonly left: Line | null; readonly right: Line | null };

/** The rows to show; of a closed hunk only its head. */
export function rowsOf(file: FileDiff, split: boolean, closed: ReadonlySet<number>): readonly Row[] {
  return file.hunks.flatMap(({ oldStart, newStart, section, lines }, hunk): Row[] => {
    const head: Row = {
      kind: "hunk",
      hunk,
      text: `line ${file.newPath === null ? oldStart : newStart} ${section}`.trim(),
    };
    if (closed.has(hunk)) return [head];
    return split ? [head, ...pairs(lines, hunk)] : [head, ...lines.map((line): Row => ({ kind: "line", hunk, line }))];
  });
}

function pairs(lines: readonly Line[], hunk: number): Row[] {
  return lines.flatMap((line): Row[] => {
    if (line.sign === " ") return [{ kind: "pair", hunk, left: line, right: line }];
    if (line.sign === "-") return [{ kind: "pair", hunk, left: line, right: line.twin }];
    // A line that has a twin stands beside it already.
    return line.twin === null ? [{ kind: "pair", hunk, left: null, right: line }] : [];
  });
}
