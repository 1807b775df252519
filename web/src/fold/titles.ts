/** What a tool call is about, on one line. */

import { oneLine } from "../text/harmless";
import type { Fields } from "./blocks";
import { fields } from "./guards";

// The argument that says it best, by the names that agents give it; the first that is there is shown.
const TELLING = (
  "command cmd file_path path filePath abs_path absolute_path pattern url query artifact_id description prompt task " +
  "name title text"
).split(" ");
const SHELLS = new Set(["sh", "bash", "zsh", "dash"]);
const SCRIPT_FLAGS = new Set(["-c", "-lc", "-ic"]);

/** The telling argument of a call; the arguments as JSON where none tells. */
export function titleOf(input: Fields): string {
  for (const name of TELLING) {
    const value = input[name];
    if (typeof value === "string" && value.trim() !== "") return oneLine(value);
    if (Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === "string")) {
      return oneLine(commandOf(value));
    }
  }
  const { edits } = input;
  if (Array.isArray(edits)) {
    const paths = edits.flatMap((edit: unknown) => (fields(edit) && typeof edit.path === "string" ? [edit.path] : []));
    return oneLine([...new Set(paths)].join(", "));
  }
  return Object.keys(input).length > 0 ? oneLine(json(input)) : "";
}

/** A command as somebody would type it: the script itself where a shell runs one. */
export function commandOf(argv: readonly string[]): string {
  const [shell, flag, script] = argv;
  const isScript = argv.length === 3 && SHELLS.has(shell?.split("/").at(-1) ?? "") && SCRIPT_FLAGS.has(flag ?? "");
  return isScript && script !== undefined ? script : argv.join(" ");
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested deeper than the stack is.
    return "…";
  }
}
