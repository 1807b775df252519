/** From events to blocks: nothing that was said is lost, and everything is in the words of the terminal. */
import { expect, test } from "vitest";
import type { Block } from "../../src/fold/blocks";
import { RunFold } from "../../src/fold/fold";
import type { Told } from "../../src/wire/events";
import { CAPTURES, EXAMPLES, envelope, FIXTURES, fixture, folded, log, seen } from "./logs";

const LOGS = [...FIXTURES, ...CAPTURES];
const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
const CALL = { tool_call_id: "call_1", tool_name: "shell_exec", kind: "shell" };
const INVOKED = ["tool.invoked", { ...CALL, turn_index: 0 }] as const;
const COMPLETED = ["tool.completed", { ...CALL, duration_ms: 1 }] as const;
const FINISHED = ["run.finished", { turns: 1, cost_micros_usd: 5, duration_ms: 9 }] as const;

function only<K extends Block["kind"]>(lines: readonly Told[], kind: K): Extract<Block, { kind: K }>[] {
  return folded(lines).blocks.filter((block): block is Extract<Block, { kind: K }> => block.kind === kind);
}

function data(lines: readonly Told[], type: string): Record<string, unknown>[] {
  return lines.filter(({ event }) => event.type === type).map(({ event }) => event.data);
}

test("what is shown as said is what was said", () => {
  for (const { name, lines } of LOGS) {
    const answers = data(lines, "assistant.final_answer").map(({ summary }) => summary);
    const said = data(lines, "assistant.text_complete").flatMap(({ text }) => (text ? [text] : []));
    const whole = only(lines, "prose").flatMap(({ text, broken }) => (broken ? [] : [text]));
    // An agent that does not stream says what it says in its final answer.
    expect(
      whole.filter((text) => said.includes(text) || !answers.includes(text)),
      name,
    ).toEqual(said);
    const heard = only(lines, "user").filter(({ attachment }) => attachment === null);
    expect(
      heard.map(({ text }) => text),
      name,
    ).toEqual(data(lines, "user.message").map(({ text }) => text));
  }
});

test("text is its deltas, joined, before the agent says that it is whole", () => {
  for (const { name, lines } of LOGS) {
    const pieces = lines.filter(({ event }) => event.type === "assistant.text_delta");
    expect(
      only(pieces, "prose")
        .map(({ text }) => text)
        .sort(),
      name,
    ).toEqual(byBlock(pieces));
  }
});

test("a run that is over has an end and nothing that goes on", () => {
  for (const { name, lines } of LOGS) {
    const fold = folded(lines);
    expect(fold.end?.state ?? null, name).toBe(ENDS.has(fold.status) ? fold.status : null);
    const goesOn = fold.blocks.filter(({ open, kind }) => open && kind !== "edit" && kind !== "approval");
    if (fold.end !== null) expect(goesOn, name).toEqual([]);
  }
});

test("each event belongs to the block that it made or changed, and that block says so", () => {
  for (const { name, lines } of LOGS) {
    const fold = new RunFold();
    for (const { event } of lines) {
      const revisions = fold.blocks.map(({ revision }) => revision);
      const block = fold.take(event);
      expect(fold.head, name).toBe(event.sequence);
      if (block === null) continue;
      expect(fold.blocks[block.index], name).toBe(block);
      expect(block.until, name).toBe(event.sequence);
      expect(block.revision, name).toBeGreaterThan(revisions[block.index] ?? -1);
    }
    expect(
      fold.blocks.map(({ index }) => index),
      name,
    ).toEqual(fold.blocks.map((_, index) => index));
    const { errors, approvals, edits } = fold.jumps;
    for (const places of [errors, approvals, edits]) {
      expect(places, name).toEqual([...new Set(places)].sort((a, b) => a - b));
    }
  }
});

function byBlock(pieces: readonly Told[]): string[] {
  const texts = new Map<string, string>();
  for (const { event } of pieces) {
    const key = `${event.data.turn_index}:${event.data.block_index}`;
    texts.set(key, (texts.get(key) ?? "") + event.data.delta);
  }
  return [...texts.values()].filter(Boolean).sort();
}

test("an event makes one block at most, also where what came before it is not known", () => {
  for (const { name, lines } of [...LOGS, { name: "examples", lines: EXAMPLES }]) {
    for (const from of [0, 7, Math.floor(lines.length / 2)]) {
      const made = folded(lines.slice(from)).blocks.map(({ sequence }) => sequence);
      expect(new Set(made).size, `${name} from ${from}`).toBe(made.length);
    }
  }
});

test.each(FIXTURES)(
  "$name, folded in two parts anywhere, comes to the same, and forks stay as they were",
  ({ lines }) => {
    const whole = JSON.stringify(seen(folded(lines)));
    for (let cut = 0; cut <= lines.length; cut += 1) {
      const first = folded(lines.slice(0, cut));
      const before = JSON.stringify(seen(first));
      const [idle, twin] = [first.fork(), first.fork()];
      const rest = lines.slice(cut);
      expect(JSON.stringify(seen(folded(rest, twin)))).toBe(whole);
      expect(JSON.stringify(seen(first))).toBe(before);
      expect(JSON.stringify(seen(folded(rest, first)))).toBe(whole);
      expect(JSON.stringify(seen(idle))).toBe(before);
    }
  },
);

test("a hundred thousand pieces are one text", () => {
  const fold = new RunFold();
  const piece = envelope(0, "assistant.text_delta", { turn_index: 0, block_index: 0, delta: "so " });
  for (let sequence = 0; sequence < 100_000; sequence += 1) fold.take({ ...piece, sequence });
  const [block] = fold.blocks;
  expect(block?.kind === "prose" && block.text === "so ".repeat(100_000)).toBe(true);
  expect(fold.blocks).toHaveLength(1);
});

test("every known type, as the contract shows it, fits and is never shown raw", () => {
  expect(folded(EXAMPLES).blocks.filter(({ kind }) => kind === "opaque")).toEqual([]);
});

test("what is unknown, or not as its type says, is shown as it came and changes nothing else", () => {
  const fold = folded(log(["acme.rocket.launched", { to: "the moon" }], ["tool.invoked", { nothing: "fits" }]));
  expect(fold.blocks).toMatchObject([
    { kind: "opaque", type: "acme.rocket.launched", data: { to: "the moon" } },
    { kind: "opaque", type: "tool.invoked", data: { nothing: "fits" } },
  ]);
  expect(fold.status).toBe("queued");
});

test("names that objects have of themselves are types like any other", () => {
  const lines = log(["constructor", {}], ["__proto__", {}], ["toString", {}]);
  expect(only(lines, "opaque").map(({ type }) => type)).toEqual(["constructor", "__proto__", "toString"]);
});

test("older names of edits are understood; what does not fit them is shown as it came", () => {
  const patch = { tool_call_id: "c", path: "a", patch_artifact_id: "art_1", summary: "+1/-1", auto_apply: false };
  const lines = log(
    ["tool.file.patch", patch],
    ["tool.file.applied", { tool_call_id: "c", patch_artifact_id: "art_1", applied_at: "" }],
    ["tool.file.patch", { diff: "" }],
  );
  expect(folded(lines).blocks).toMatchObject([{ kind: "edit", state: "applied" }, { kind: "opaque" }]);
});

test("an edit stands for the call that made it and changes with what becomes of it", () => {
  const lines = fixture("reviewed");
  expect(only(lines, "tool").map(({ told }) => told)).toEqual([true, true, true]);
  expect(only(lines, "edit")).toMatchObject([
    { paths: ["a.txt"], state: "reverted", by: "operator", reason: "too loud" },
    { paths: ["b.txt"], state: "rejected", by: "operator", reason: "two is fine" },
    { paths: ["c.txt"], state: "proposed", by: "", reason: "", open: true },
  ]);
});

test("a question is pending until it is answered, and its call knows of it", () => {
  const lines = fixture("denied");
  const asked = lines.findIndex(({ event }) => event.type === "approval.requested");
  const waiting = folded(lines.slice(0, asked + 1));
  expect(waiting.status).toBe("awaiting_approval");
  expect([...waiting.pending.values()]).toMatchObject([{ kind: "approval", state: "pending", open: true }]);
  const [answered] = only(lines, "approval");
  expect(answered).toMatchObject({ state: "denied", by: "operator", comment: "not here", told: true });
  expect(only(lines, "tool")).toMatchObject([{ state: "blocked", approvalId: answered?.approvalId }]);
  expect(folded(lines).pending.size).toBe(0);
});

test("the run goes on once the last of several questions is answered", () => {
  const ask = (id: string) =>
    [
      "approval.requested",
      { approval_id: id, tool_call_id: null, kind: "k", summary: "s", policy_reason: "r" },
    ] as const;
  const answer = (id: string) => ["approval.resolved", { approval_id: id, decision: "approved", by: "me" }] as const;
  expect(folded(log(ask("a"), ask("b"), answer("a"))).status).toBe("awaiting_approval");
  expect(folded(log(ask("a"), ask("b"), answer("a"), answer("b"))).status).toBe("running");
});

test("the first end wins, in its status, its totals and what is shown as the end", () => {
  const late = ["cost.tick", { ...data(EXAMPLES, "cost.tick")[0], cumulative_cost_micros_usd: 9_999 }] as const;
  const fold = folded(log(FINISHED, ["run.cancelled", { by: "operator", turns: 7 }], late));
  expect(fold).toMatchObject({ status: "completed", end: { state: "completed", sequence: 0 } });
  expect(fold.totals).toMatchObject({ turns: 1, costMicrosUsd: 5 });
});

test("the last list of what is to be done counts, in one block", () => {
  const listed = (status: string) =>
    ["tool.todo_write.updated", { tool_call_id: "c", todos: [{ content: "read\u001b", status }] }] as const;
  const fold = folded(log(listed("pending"), listed("completed")));
  expect(fold.blocks).toEqual([fold.todo]);
  expect(fold.todo?.items).toEqual([{ content: "read\\u{1b}", status: "completed" }]);
});

test("an id that is used again is another call", () => {
  expect(only(log(INVOKED, COMPLETED, INVOKED, COMPLETED), "tool").map(({ state }) => state)).toEqual([
    "completed",
    "completed",
  ]);
});

test("a turn that fails says why, breaks off what was being said, and can be jumped to unless it is tried again", () => {
  const turn = { turn_index: 0 };
  const failed = { ...turn, code: "model_timeout", message: "no answer", input_tokens: 3 };
  const fails = (will_retry: boolean) =>
    folded(
      log(
        ["turn.started", { ...turn, model: "m", provider: "p" }],
        ["assistant.text_delta", { ...turn, block_index: 0, delta: "I will" }],
        ["turn.failed", { ...failed, will_retry }],
      ),
    );
  expect(fails(true).blocks).toMatchObject([
    {
      kind: "turn",
      state: "failed",
      error: "model_timeout: no answer; it is tried again",
      inputTokens: 3,
      open: false,
    },
    { kind: "prose", text: "I will", broken: true, open: false },
  ]);
  expect(fails(true).jumps.errors).toEqual([]);
  expect(fails(false).jumps.errors).toEqual([0]);
});

test("the end of a turn whose beginning was pruned is told by a note", () => {
  const failed = { turn_index: 4, code: "broken", message: "it broke" };
  expect(folded(log(["turn.failed", failed])).blocks).toMatchObject([
    { kind: "note", level: "error", text: "the turn failed: broken: it broke" },
  ]);
});

test("jumps to errors come in the order of the blocks, however late the errors show", () => {
  const other = { ...CALL, tool_call_id: "call_2" };
  const failed = { duration_ms: 1, code: "nonzero_exit", message: "exit code 1" };
  const fold = folded(
    log(
      INVOKED,
      ["tool.invoked", { ...other, turn_index: 0 }],
      ["tool.failed", { ...other, ...failed }],
      ["tool.failed", { ...CALL, ...failed }],
    ),
  );
  expect(fold.jumps.errors).toEqual([0, 1]);
});

test("what a call found is kept by its kind", () => {
  const kinds = [...fixture("looking_around"), ...fixture("reaching_out"), ...fixture("mcp_servers")];
  const details = only(kinds, "tool").flatMap(({ detail }) => (detail === null ? [] : [detail]));
  expect(new Set(details.map(({ kind }) => kind))).toEqual(new Set(["glob", "grep", "file", "http", "search", "mcp"]));
  expect(details.find(({ kind }) => kind === "http")).toMatchObject({ method: "GET", status: 200, bytes: 112 });
  expect(details.find(({ kind }) => kind === "search")).toMatchObject({ results: 1, hits: [{ title: "An example" }] });
});

test("a child is one block from its beginning to its end", () => {
  const started = { child_run_id: "run_2", agent: "native", summary: "count" };
  const ended = { child_run_id: "run_2", final_status: "failed", summary: "lost count" };
  const fold = folded(log(["run.child_started", started], ["run.child_finished", ended]));
  expect(fold.blocks).toMatchObject([{ kind: "child", runId: "run_2", state: "failed", result: "lost count" }]);
  expect(fold.jumps.errors).toEqual([0]);
});

test("costs go from left to right, also when a clock is set back or makes no sense", () => {
  const tick = (sequence: number, cost: number, at: string) => {
    const totals = { ...data(EXAMPLES, "cost.tick")[0], cumulative_cost_micros_usd: cost };
    return { ...envelope(sequence, "cost.tick", totals), occurred_at: at };
  };
  const fold = new RunFold();
  fold.take(tick(0, 1, "2026-11-15T12:00:01.000000000Z"));
  fold.take(tick(1, 2, "2026-11-15T12:00:00.000000000Z"));
  fold.take(tick(2, 2, "2026-11-15T12:00:05.000000000Z"));
  fold.take(tick(3, 3, "yesterday"));
  const first = Date.parse("2026-11-15T12:00:01Z");
  expect(fold.costs).toEqual([1, 2, 3].map((micros) => ({ atMs: first, micros })));
});
