// @vitest-environment happy-dom
/** The run that is open: read whole, followed without holes, replayed to any event, searched. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OpenRun } from "../../src/pages/run/OpenRun";
import { fixture, folded, seen } from "../fold/logs";
import { Gateway, No } from "../wire/gateway";

// A busy machine may take its time; what is waited for comes.
const PATIENCE_MS = 10_000;
const LINES = fixture("reviewed");
const RUN = LINES[0]?.event.run_id ?? "";

let gateway: Gateway;
let stored: readonly string[];
let close: () => void;

beforeEach(() => {
  vi.resetModules();
  gateway = new Gateway();
  stored = LINES.map(({ line }) => line);
  gateway.on(`GET runs/${RUN}`, () => ({ run_id: RUN, status: "running", head_sequence: stored.length - 1 }));
  gateway.on(`GET runs/${RUN}/events`, ({ url }) => {
    const after = Number(url.searchParams.get("after_sequence"));
    return new Response(stored.filter((line) => JSON.parse(line).sequence > after).join("\n"));
  });
});

afterEach(() => close());

async function opened(): Promise<OpenRun> {
  const { OpenRun } = await import("../../src/pages/run/OpenRun");
  const open = new OpenRun(RUN);
  const { goLive } = await import("../../src/wire/live");
  goLive();
  close = open.follow();
  await vi.waitFor(() => expect(open.isReading.value).toBe(false), PATIENCE_MS);
  return open;
}

async function viewed() {
  const open = await opened();
  const { View } = await import("../../src/pages/run/View");
  return { open, view: new View(open) };
}

test("all that is stored is read, to the byte, and comes to what its fold is", async () => {
  const open = await opened();
  expect(open.told.map(({ line }) => line)).toEqual(stored);
  expect(seen(open.fold)).toEqual(seen(folded(LINES)));
  await vi.waitFor(() => expect(open.run.value?.run_id).toBe(RUN), PATIENCE_MS);
});

test("what happens later is taken in when it happens, and said", async () => {
  stored = stored.slice(0, -3);
  const open = await opened();
  const before = open.grown.value;
  const rest = LINES.slice(-3).map(({ event }) => event);
  stored = LINES.map(({ line }) => line);
  await gateway.say(...rest);
  await vi.waitFor(() => expect(open.head).toBe(rest.at(-1)?.sequence), PATIENCE_MS);
  expect(open.grown.value).toBeGreaterThan(before);
});

test("what the run is can be known as soon as the gateway is back", async () => {
  gateway.on(`GET runs/${RUN}`, () => new No(503, "shutting_down", "not now"));
  gateway.on(`GET runs/${RUN}/events`, () => new No(503, "shutting_down", "not now"));
  const { OpenRun } = await import("../../src/pages/run/OpenRun");
  const open = new OpenRun(RUN);
  const { goLive } = await import("../../src/wire/live");
  goLive();
  close = open.follow();
  await vi.waitFor(() => expect(open.failure.value).not.toBeNull(), PATIENCE_MS);
  gateway.on(`GET runs/${RUN}`, () => ({ run_id: RUN, status: "running", head_sequence: 0 }));
  gateway.on(`GET runs/${RUN}/events`, () => new Response(stored.join("\n")));
  await gateway.catchUp();
  await vi.waitFor(() => expect(open.run.value?.run_id).toBe(RUN), PATIENCE_MS);
  expect(open.failure.value).toBeNull();
});

test("a run that ended between what was learnt about it and what was read is known to have ended", async () => {
  let asked = 0;
  const ended = { run_id: RUN, status: "completed", head_sequence: LINES.length - 1 };
  gateway.on(`GET runs/${RUN}`, () => {
    asked += 1;
    return asked === 1 ? { run_id: RUN, status: "running", head_sequence: 2 } : ended;
  });
  const open = await opened();
  await vi.waitFor(() => expect(open.run.value?.status).toBe("completed"), PATIENCE_MS);
});

test("an answer about the run that comes late does not undo a newer one", async () => {
  const head = LINES.length - 1;
  const answers: ((status: string, head: number) => void)[] = [];
  const open = await opened();
  gateway.on(
    `GET runs/${RUN}`,
    () =>
      new Promise((resolve) => {
        answers.push((status, head_sequence) => resolve({ run_id: RUN, status, head_sequence }));
      }),
  );
  const said = { ...LINES[0]?.event, type: "run.note" } as (typeof LINES)[number]["event"];
  await gateway.say({ ...said, sequence: head + 1 });
  await vi.waitFor(() => expect(answers.length).toBe(1), PATIENCE_MS);
  await gateway.say({ ...said, sequence: head + 2 });
  await vi.waitFor(() => expect(answers.length).toBe(2), PATIENCE_MS);
  answers[1]?.("completed", head + 2);
  await vi.waitFor(() => expect(open.run.value?.status).toBe("completed"), PATIENCE_MS);
  answers[0]?.("running", head + 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(open.run.value?.status).toBe("completed");
});

test("an event is found by its sequence, also where earlier ones were pruned", async () => {
  stored = stored.filter((_, place) => place === 0 || place > 10);
  const open = await opened();
  expect(open.toldAt(5)).toBeNull();
  expect(open.placeOf(5)).toBe(0);
  expect(open.toldAt(11)?.event.sequence).toBe(11);
  expect(open.toldAt(10_000)).toBeNull();
  expect(open.placeOf(-1)).toBe(-1);
});

test("every event belongs to a block that had begun when it happened", async () => {
  const open = await opened();
  for (const { event } of LINES.slice(1)) {
    const block = open.fold.blocks[open.blockOf(event.sequence)];
    expect(block === undefined || block.sequence <= event.sequence).toBe(true);
  }
  expect(LINES.some(({ event }) => open.blockOf(event.sequence) > 0)).toBe(true);
});

test("a replay shows the run as it was, and everything again when it is left", async () => {
  const { open, view } = await viewed();
  for (const sequence of [4, 20, 2, open.head]) {
    view.replay.seek(sequence);
    expect(seen(view.fold())).toEqual(seen(folded(LINES.filter(({ event }) => event.sequence <= sequence))));
  }
  view.replay.step(-1);
  expect(view.replay.upTo.value).toBe(open.head - 1);
  view.replay.live();
  expect(view.fold()).toBe(open.fold);
});

test("a replay goes no further than the run, wherever one drags", async () => {
  const { open, view } = await viewed();
  view.replay.seek(-50);
  expect(view.replay.upTo.value).toBe(0);
  view.replay.seek(1e9);
  expect(view.replay.upTo.value).toBe(open.head);
});

test("playing goes through every event to the end, and the run is followed again", async () => {
  const { open, view } = await viewed();
  const reached: number[] = [];
  view.replay.speed.value = 64;
  view.replay.upTo.subscribe((upTo) => upTo !== null && reached.push(upTo));
  view.replay.toggle();
  expect(view.replay.isPlaying.value).toBe(true);
  await vi.waitFor(() => expect(view.replay.isPlaying.value).toBe(false), PATIENCE_MS);
  expect(reached[0]).toBe(0);
  expect(reached.at(-1)).toBe(open.head);
  expect(view.replay.upTo.value).toBeNull();
});

test("words are found in the blocks that say them, and jumping goes round", async () => {
  const { open, view } = await viewed();
  const said = open.fold.blocks.find((block) => block.kind === "user");
  if (said?.kind !== "user") throw new Error("nobody said anything in the fixture");
  view.search.look(said.text.toUpperCase());
  expect(view.search.hits.value).toContain(said.index);
  for (const _ of view.search.hits.value) view.jump("hit", 1);
  expect(view.selected.value).toBe(view.search.hits.value.at(-1));
  view.jump("hit", 1);
  expect(view.selected.value).toBe(view.search.hits.value[0]);
  expect(view.said.value).toBe(`Match 1 of ${view.search.hits.value.length}`);
});

test("words that came after the question are found, too", async () => {
  stored = stored.slice(0, 2);
  const { open, view } = await viewed();
  view.search.look("run.finished");
  expect(view.search.hits.value).toEqual([]);
  stored = LINES.map(({ line }) => line);
  await gateway.catchUp();
  await vi.waitFor(() => expect(open.head).toBe(LINES.at(-1)?.event.sequence), PATIENCE_MS);
  view.search.lookOn();
  expect(view.search.hits.value).not.toEqual([]);
});

test("jumping to what a filter hides takes the filter away", async () => {
  const { open, view } = await viewed();
  view.filter.value = "approvals";
  view.jump("edit", 1);
  expect(view.filter.value).toBe("all");
  expect(open.fold.blocks[view.selected.value ?? -1]?.kind).toBe("edit");
});

test("a link to an event marks it and stands on its block", async () => {
  const { open, view } = await viewed();
  const edit = open.fold.blocks[open.fold.jumps.edits[0] ?? -1];
  view.mark(edit?.sequence ?? -1);
  expect(view.selected.value).toBe(edit?.index);
  view.showRaw();
  expect(view.raw.value).toBe(edit?.sequence);
});

test("without a single edit, jumping to one says so and moves nothing", async () => {
  stored = stored.slice(0, 3);
  const { view } = await viewed();
  view.jump("edit", 1);
  expect(view.selected.value).toBeNull();
  expect(view.said.value).toBe("There is no edit.");
});
