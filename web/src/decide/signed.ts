/** Changes as signed lines, for a person who decides about them. Pure. */
import { diffLines } from "diff";
import type { Change } from "./asked";

export interface Line {
  readonly sign: "+" | "-" | " " | "@";
  readonly text: string;
}

/** A replacement, line by line: what goes, what comes, what stays. */
export function linesOfChange({ before, after }: Change): readonly Line[] {
  if (before === null) return split(after, "+");
  return diffLines(before, after).flatMap(({ value, added, removed }) =>
    split(value, added ? "+" : removed ? "-" : " "),
  );
}

/** A diff, line by line, with nothing left out. */
export function linesOfDiff(text: string): readonly Line[] {
  return text.split("\n").map((line) => {
    if (/^(@@|diff |index |--- |\+\+\+ )/.test(line)) return { sign: "@", text: line };
    const sign = line.startsWith("+") ? "+" : line.startsWith("-") ? "-" : " ";
    return { sign, text: sign === " " && !line.startsWith(" ") ? line : line.slice(1) };
  });
}

function split(text: string, sign: Line["sign"]): Line[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => ({ sign, text: line }));
}
