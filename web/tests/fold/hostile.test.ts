/** Whatever comes, the fold takes it: values exchanged, events left out, repeated and out of order, and all at once. */
import { expect, test } from "vitest";
import { RunFold } from "../../src/fold/fold";
import type { Envelope } from "../../src/wire/events";
import { CAPTURES, EXAMPLES, envelope, FIXTURES, folded, log, seen } from "./logs";

const ALL = [...FIXTURES, ...CAPTURES].flatMap(({ lines }) => lines.map(({ event }) => event));
const ODD: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    -1e308,
    Number.MAX_SAFE_INTEGER,
    "",
    "\u0000",
    "\u202e",
    "\ud800",
    "a".repeat(70_000),
  ],
  ...[
    "__proto__",
    "constructor",
    "<script>alert(1)</script>",
    [],
    [[]],
    [null],
    {},
    { __proto__: null },
    { length: 1e9 },
  ],
];

/** Numbers that look random and are the same each time. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

function pick<T>(from: readonly T[], roll: (below: number) => number): T {
  const found = from[roll(from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

/** The value with something in it exchanged. */
function spoiled(value: unknown, roll: (below: number) => number): unknown {
  if (typeof value !== "object" || value === null || roll(4) === 0) return pick(ODD.slice(1), roll);
  const names = Object.keys(value);
  if (names.length === 0) return pick(ODD.slice(1), roll);
  const name = pick(names, roll);
  const entries = Object.entries(value).map(([key, inner]) => [key, key === name ? spoiled(inner, roll) : inner]);
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

function intact(fold: RunFold, taken: readonly Envelope[]): void {
  // Everything that a face reads can be read, and every unknown event is there.
  expect(JSON.stringify(seen(fold)).length).toBeGreaterThan(0);
  const unknown = taken.filter(({ type }) => type.startsWith("acme."));
  expect(fold.blocks.filter((block) => block.kind === "opaque" && block.type.startsWith("acme."))).toHaveLength(
    unknown.length,
  );
}

test.each([1, 2, 3, 4])("events with exchanged values, in any order, never throw (%i)", (seed) => {
  const roll = dice(seed);
  for (let round = 0; round < 100; round += 1) {
    const fold = new RunFold();
    const taken: Envelope[] = [];
    for (let sequence = 0; sequence < 40; sequence += 1) {
      const event = pick(ALL, roll);
      const data = roll(2) === 0 ? event.data : spoiled(event.data, roll);
      const type = roll(20) === 0 ? `acme.${event.type}` : event.type;
      const odd = typeof data === "object" && data !== null ? data : { odd: data };
      const next = { ...envelope(sequence, type, odd), occurred_at: roll(10) === 0 ? "never" : event.occurred_at };
      taken.push(next);
      fold.take(next);
    }
    intact(fold, taken);
  }
});

test("each field of each type, exchanged for anything, never throws", () => {
  const before = folded(EXAMPLES);
  for (const { event } of EXAMPLES) {
    const fold = before.fork();
    for (const name of Object.keys(event.data)) {
      for (const value of ODD) fold.take({ ...event, data: { ...event.data, [name]: value } });
    }
    intact(fold, []);
  }
});

test("input that is nested deeper than the stack has a title", () => {
  const depth = 200_000;
  const input = JSON.parse(`{"deep":${"[".repeat(depth)}${"]".repeat(depth)}}`);
  const fold = new RunFold();
  const proposed = { turn_index: 0, tool_call_id: "c", tool_name: "odd", input: {} };
  const event = envelope(0, "assistant.tool_call_proposed", proposed);
  expect(fold.take({ ...event, data: { ...proposed, input } })).toMatchObject({ kind: "tool", title: "…" });
});

test("what a person reads on one line cannot hide or turn around what it says", () => {
  const evil = "rm \u202e-rf\u200b /\u001b[2K\nls\u{e0041}";
  const [asked] = folded(
    log([
      "approval.requested",
      { approval_id: "a", tool_call_id: null, kind: "k", summary: evil, policy_reason: evil },
    ]),
  ).blocks;
  expect(asked).toMatchObject({ summary: "rm \\u{202e}-rf\\u{200b} /\\u{1b}[2K ls\\u{e0041}" });
});
