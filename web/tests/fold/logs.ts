/** Logs to fold: every fixture of the contract, and what became of streams captured from real agents. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { RunFold } from "../../src/fold/fold";
import { type Envelope, type Told, tell } from "../../src/wire/events";

export interface Log {
  readonly name: string;
  readonly lines: readonly Told[];
}

/** An event without its envelope. */
export type Happened = readonly [type: string, data: unknown];

// The bundler would rewrite an address that is made in one expression, where the tests have a page.
const HERE = import.meta.url;
const ROOT = fileURLToPath(new URL("../../../", HERE));
const START_MS = Date.parse("2026-11-15T12:00:00Z");

/** A stored event, a hundredth of a second after the one before. */
export function envelope(sequence: number, type: string, data: unknown): Envelope {
  const occurred_at = new Date(START_MS + sequence * 10).toISOString();
  const ids = { event_id: `evt_${sequence}`, run_id: "run_1" };
  const told = tell(JSON.stringify({ schema_version: "1", ...ids, sequence, occurred_at, type, data }));
  if (told === null) throw new Error(`no envelope: ${type}`);
  return told.event;
}

/** A run in which this has happened. */
export function log(...events: readonly Happened[]): Told[] {
  return logOf(events);
}

/** A run in which all of this has happened, however much it is. */
export function logOf(events: readonly Happened[]): Told[] {
  return events.map(([type, data], sequence) => {
    const event = envelope(sequence, type, data);
    return { line: JSON.stringify(event), event };
  });
}

/** All that a fold says, to be compared. */
export function seen(fold: RunFold) {
  const { blocks, head, startedAt, lastAt, status, totals, costs, jumps, todo, end, pending, turns } = fold;
  return {
    ...{ status, head, startedAt, lastAt, totals, costs, jumps },
    ...{ todo: todo?.index ?? null, end: end?.index ?? null },
    ...{ pending: [...pending.keys()], turns: turns.map(({ index }) => index), blocks },
  };
}

/** What the events come to. */
export function folded(lines: readonly Told[], fold = new RunFold()): RunFold {
  for (const { event } of lines) fold.take(event);
  return fold;
}

export const FIXTURES: readonly Log[] = names("spec/fixtures/v1", ".jsonl").map((name) => ({
  name: name.replace(".jsonl", ""),
  lines: read(`spec/fixtures/v1/${name}`)
    .map(tell)
    .filter((told) => told !== null),
}));

export const CAPTURES: readonly Log[] = names("tests/transcripts", ".expected.jsonl").map((name) => ({
  name: name.replace(".expected.jsonl", "").replaceAll("/", "-"),
  lines: logOf(read(`tests/transcripts/${name}`).flatMap(happened)),
}));

/** One event of every known type, as the contract shows it. */
export const EXAMPLES: readonly Told[] = logOf(
  read("spec/examples/v1.jsonl").map((line): Happened => {
    const { type, data } = JSON.parse(line);
    return [type, data];
  }),
);

/** The fixture of that name. */
export function fixture(name: string): readonly Told[] {
  const found = FIXTURES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no fixture ${name}`);
  return found.lines;
}

/** The lines of a file below the root that are not empty. */
export function read(path: string): string[] {
  return readFileSync(`${ROOT}${path}`, "utf8").split("\n").filter(Boolean);
}

/** The files of a folder below the root whose names end so. */
export function names(folder: string, end: string): string[] {
  return readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(end))
    .sort();
}

/** A line of a capture: an event, or how it all ended. */
function happened(line: string): Happened[] {
  const { type, data, outcome, code, message, by } = JSON.parse(line);
  if (type) return [[type, data]];
  if (code) return [["run.failed", { code, message, turns: 1 }]];
  if (by) return [["run.cancelled", { by }]];
  return outcome ? [["run.finished", { turns: 1, cost_micros_usd: 0, duration_ms: 1 }]] : [];
}
