/** What a call asks for, read out of its input: a command, changes to files, a question, or fields nobody knows. Pure. */
import type { Approval } from "../wire/resources/decisions";

export type Fields = Readonly<Record<string, unknown>>;

/** One replacement in a file; `before` is null where the whole file is written. */
export interface Change {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

export interface Asked {
  /** The command as somebody would type it. */
  readonly command: string | null;
  readonly changes: readonly Change[];
  /** A change that came as a diff. */
  readonly diff: string | null;
  /** What is left of the input when that has been shown. */
  readonly rest: Fields;
}

/** What a question offers to choose from; empty: any text will do. */
export interface Offer {
  readonly text: string;
  readonly choices: readonly string[];
  readonly value: string;
}

const PATHS = ["path", "file_path", "filePath", "abs_path", "absolute_path", "filename"];
const BEFORE = ["old_text", "old_string", "oldText", "oldString", "old_str"];
const AFTER = ["new_text", "new_string", "newText", "newString", "new_str"];
const WHOLE = ["content", "contents", "file_text"];
const COMMANDS = ["command", "cmd", "script"];
const DIFFS = ["diff", "patch", "unified_diff"];
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** The input, so that the part that matters can be shown as what it is. Everything else stays in `rest`. */
export function readAsked(approval: Pick<Approval, "input" | "tool_name">): Asked {
  const { input } = approval;
  const used = new Set<string>();
  const command = readCommand(input, approval.tool_name, used);
  const changes = command === null ? readChanges(input, used) : [];
  const diff = command === null && changes.length === 0 ? readDiff(input, used) : null;
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !used.has(name)));
  return { command, changes, diff, rest };
}

/** The words of a question that wants an answer rather than a yes. */
export function readOffer(approval: Pick<Approval, "input" | "summary">): Offer {
  const { input } = approval;
  const first = Array.isArray(input.questions) ? input.questions[0] : undefined;
  const question: Fields = isFields(first) ? first : input;
  const said = typeof first === "string" ? first : question.question;
  return {
    text: typeof said === "string" && said !== "" ? said : approval.summary,
    choices: readChoices(question.options),
    value: typeof input.value === "string" ? input.value : "",
  };
}

/** Words as a shell would have to be given them. */
export function quoted(words: readonly string[]): string {
  return words.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** Whether this is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readCommand(input: Fields, tool: string, used: Set<string>): string | null {
  for (const name of COMMANDS) {
    const value = input[name];
    if (typeof value === "string" || isWords(value)) {
      used.add(name);
      return typeof value === "string" ? value : quoted(value);
    }
  }
  if (tool === "git" && isWords(input.args)) {
    used.add("args");
    return quoted(["git", ...input.args]);
  }
  return null;
}

function readChanges(input: Fields, used: Set<string>): Change[] {
  const path = stringOf(input, PATHS);
  const several = input.edits;
  if (Array.isArray(several) && several.length > 0) {
    const found = several.map((one) => (isFields(one) ? readChange(one, path?.value ?? null) : null));
    // One that cannot be read may not be hidden behind those that can.
    if (found.some((one) => one === null || one.unread)) return [];
    used.add("edits");
    if (path !== null) used.add(path.name);
    return found.flatMap((one) => (one === null ? [] : [one.change]));
  }
  const found = readChange(input, null);
  if (found === null) return [];
  for (const name of found.names) used.add(name);
  return [found.change];
}

function readChange(input: Fields, outer: string | null) {
  const path = stringOf(input, PATHS);
  const before = stringOf(input, BEFORE);
  const after = before === null ? stringOf(input, WHOLE) : stringOf(input, AFTER);
  const where = path?.value ?? outer;
  if (where === null || after === null) return null;
  const names = [path?.name, before?.name, after.name].filter((name) => name !== undefined);
  const change: Change = { path: where, before: before?.value ?? null, after: after.value };
  return { change, names, unread: Object.keys(input).some((name) => !names.includes(name)) };
}

function readDiff(input: Fields, used: Set<string>): string | null {
  const found = stringOf(input, DIFFS);
  if (found !== null) used.add(found.name);
  return found?.value ?? null;
}

function stringOf(input: Fields, names: readonly string[]): { name: string; value: string } | null {
  for (const name of names) {
    const value = input[name];
    if (typeof value === "string") return { name, value };
  }
  return null;
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");
}

function readChoices(options: unknown): string[] {
  if (!Array.isArray(options)) return [];
  return options.flatMap((one: unknown) => {
    const label = isFields(one) ? one.label : one;
    return typeof label === "string" && label !== "" ? [label] : [];
  });
}
