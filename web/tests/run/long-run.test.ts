// @vitest-environment happy-dom
/** A long run: its end is there at once, and everything takes its place when it has been read. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OpenRun } from "../../src/pages/run/OpenRun";
import type { View } from "../../src/pages/run/View";
import { folded, type Happened, logOf, seen } from "../fold/logs";
import { Gateway, No, until } from "../wire/gateway";

const RUN = "run_1";
const TURNS = 1_500;
const LINES = logOf([...begun(), ...Array.from({ length: TURNS }, (_, turn) => turnOf(turn)).flat()]);
const HEAD = LINES.length - 1;

let gateway: Gateway;
let release: () => void;
let close: () => void;
let open: OpenRun;
let view: View;

function begun(): Happened[] {
  return [["run.started", { worker_id: "worker_1" }]];
}

function turnOf(turn: number): Happened[] {
  return [
    ["turn.started", { turn_index: turn, model: "m" }],
    ["assistant.text_complete", { turn_index: turn, block_index: 0, text: `this was turn ${turn}` }],
    ["user.message", { text: `go on after ${turn}` }],
    ["turn.completed", { turn_index: turn, duration_ms: 1, cost_micros_usd: 2 }],
  ];
}

/** Answer what lies past the sequence; from the start on only once the rest is released. */
function answer(after: number, released: Promise<void>): Response {
  const encoder = new TextEncoder();
  const stored = LINES.filter(({ event }) => event.sequence > after).map(({ line }) => line);
  const body = new ReadableStream<Uint8Array>({
    async start(pipe) {
      pipe.enqueue(encoder.encode(`${stored.slice(0, 100).join("\n")}\n`));
      if (after < 0) await released;
      pipe.enqueue(encoder.encode(stored.slice(100).join("\n")));
      pipe.close();
    },
  });
  return new Response(body);
}

beforeEach(async () => {
  vi.resetModules();
  gateway = new Gateway();
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  gateway.on(`GET runs/${RUN}`, () => ({
    run_id: RUN,
    status: "running",
    head_sequence: HEAD,
    usage: { turns: TURNS },
    cost_micros_usd: 2 * TURNS,
  }));
  gateway.on(`GET runs/${RUN}/events`, ({ url }) => answer(Number(url.searchParams.get("after_sequence")), released));
  const modules = [import("../../src/pages/run/OpenRun"), import("../../src/pages/run/View")] as const;
  const [{ OpenRun }, { View }] = await Promise.all(modules);
  open = new OpenRun(RUN);
  view = new View(open);
});

afterEach(() => close());

async function endIsSeen(): Promise<void> {
  close = open.follow();
  await until(() => expect(open.head).toBe(HEAD));
}

async function allIsRead(): Promise<void> {
  release();
  await until(() => expect(open.isReading.value).toBe(false));
}

test("the end is seen while the rest is being read, and then everything is, to the byte", async () => {
  await endIsSeen();
  expect(open.isReading.value).toBe(true);
  expect(open.first).toBeGreaterThan(LINES.length / 2);
  await until(() => expect(open.read).toBe(100));
  expect(open.head).toBe(HEAD);
  await allIsRead();
  expect(open.told).toEqual(LINES);
  expect(seen(open.fold)).toEqual(seen(folded(LINES)));
});

test("the end alone tells what the whole run has cost", async () => {
  await endIsSeen();
  expect(open.fold.totals).toMatchObject({ turns: TURNS, costMicrosUsd: 2 * TURNS });
});

test("who stands on a block stands on the same one when the rest has been read", async () => {
  await endIsSeen();
  view.show(open.blockOf(HEAD - 10));
  const before = open.fold.blocks[view.selected.value ?? -1];
  await allIsRead();
  const after = open.fold.blocks[view.selected.value ?? -1];
  expect(after?.sequence).toBe(before?.sequence);
  expect(after?.index).toBeGreaterThan(before?.index ?? 0);
});

test("words are found in the end at once and everywhere later, each block once", async () => {
  await endIsSeen();
  view.search.look("this was turn");
  const found = view.search.hits.value.length;
  expect(found).toBeGreaterThan(10);
  await allIsRead();
  expect(view.search.hits.value).toHaveLength(TURNS);
  for (const hit of view.search.hits.value) expect(open.fold.blocks[hit]?.kind).toBe("prose");
});

test("an event before the end is reached when it has been read, one of the end at once", async () => {
  await endIsSeen();
  expect([open.reaches(3), open.reaches(HEAD), open.reaches(HEAD + 1)]).toEqual([false, true, false]);
  await allIsRead();
  expect([open.reaches(3), open.reaches(HEAD), open.reaches(HEAD + 1)]).toEqual([true, true, false]);
});

test("a replay waits until the run has been read from its start", async () => {
  await endIsSeen();
  view.replay.seek(HEAD - 5);
  expect(view.replay.upTo.value).toBeNull();
  await allIsRead();
  view.replay.seek(HEAD - 5);
  expect(seen(view.fold())).toEqual(seen(folded(LINES.slice(0, -5))));
});

test("where the end cannot be had, everything is read all the same", async () => {
  gateway.on(`GET runs/${RUN}/events`, ({ url }) => {
    const after = Number(url.searchParams.get("after_sequence"));
    return after < 0 ? answer(after, Promise.resolve()) : new No(500, "internal", "no");
  });
  close = open.follow();
  await until(() => expect(open.isReading.value).toBe(false));
  expect(open.told).toHaveLength(LINES.length);
  expect(open.failure.value).toBeNull();
});

test("who leaves before the end has come reads nothing more", async () => {
  open.follow()();
  close = () => {};
  await until(() => expect(open.run.value).not.toBeNull());
  // Whatever would follow has begun by now.
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(gateway.asked.filter((asked) => asked.includes("/events"))).toEqual([]);
});
