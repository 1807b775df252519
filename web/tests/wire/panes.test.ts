// @vitest-environment happy-dom
/** Panes are what the gateway says, however much happens; whoever needs somebody is never missing. */
import { beforeEach, expect, test, vi } from "vitest";
import type { Pane } from "../../src/wire/resources/runs";
import { Gateway, list, until } from "./gateway";
import { pane } from "./samples";

const OLD = pane("run_0", { state: "blocked", status: "awaiting_approval", attention: true });
const FAILED = pane("run_1", { state: "error", status: "failed", attention: true });
const NEW = pane("run_9");

let gateway: Gateway;
let stored: Map<string, Pane>;

beforeEach(() => {
  vi.resetModules();
  gateway = new Gateway();
  stored = new Map([OLD, FAILED, NEW].map((one) => [one.run_id, one]));
  gateway.on("GET panes", ({ url: { searchParams: query } }) => {
    const all = [...stored.values()];
    const ids = query.get("run_id")?.split(",");
    if (ids !== undefined) return list(all.filter((one) => ids.includes(one.run_id)));
    const statuses = query.get("status")?.split(",");
    if (statuses !== undefined) return list(all.filter((one) => statuses.includes(one.status)));
    if (query.has("cursor")) return list([pane("run_5", { status: "completed" })]);
    return list([NEW], "7");
  });
});

async function kept() {
  const live = await import("../../src/wire/live");
  const store = await import("../../src/wire/panes");
  live.goLive();
  store.keepPanes();
  return { ...live, ...store };
}

test("whoever needs somebody is known, however old the run is, and whether it failed or waits", async () => {
  const { panes } = await kept();
  await until(() => expect(panes().map((one) => one.run_id)).toEqual(expect.arrayContaining(["run_0", "run_1"])));
});

test("runs that are over are read only when somebody looks at them, page after page", async () => {
  const { panes, watchPanes, older } = await kept();
  await until(() => expect(panes()).toHaveLength(3));
  expect(older.value).toBe("unread");
  watchPanes();
  await until(() => expect(panes().map((one) => one.run_id)).toContain("run_5"));
  expect(older.value).toBe("none");
});

test("many events of a few runs are one request", async () => {
  const { pane: known, watchPanes } = await kept();
  watchPanes();
  await until(() => expect(known("run_5")).toBeDefined());
  stored.set("run_9", { ...NEW, head_sequence: 500, doing: "testing" });
  const before = gateway.asked.length;
  const many = Array.from({ length: 500 }, (_, sequence) => ({ type: "tool.started", run_id: "run_9", sequence }));
  await gateway.say(...many, { type: "turn.started", run_id: "run_0", sequence: 4 });
  await until(() => expect(known("run_9")?.doing).toBe("testing"));
  expect(gateway.asked.slice(before)).toEqual(["GET panes?run_id=run_9,run_0&limit=100"]);
});

test("a run that has just begun appears by itself, and one that is removed goes", async () => {
  const { panes, pane: known } = await kept();
  await until(() => expect(panes()).toHaveLength(3));
  stored.set("run_a", pane("run_a"));
  stored.delete("run_1");
  await gateway.say({ type: "run.queued", run_id: "run_a", sequence: 0 });
  await gateway.say({ type: "run.cancelled", run_id: "run_1", sequence: 9 });
  await until(() => expect(known("run_a")).toBeDefined());
  expect(known("run_1")).toBeUndefined();
});

test("an answer that was overtaken by a newer one changes nothing", async () => {
  const { panes, pane: known, wantPanes } = await kept();
  await until(() => expect(panes()).toHaveLength(3));
  stored.set("run_9", { ...NEW, status: "running", head_sequence: 1, doing: "something of long ago" });
  await wantPanes({ status: "running" });
  expect(known("run_9")?.doing).toBe("thinking");
});

test("after a lost link everything is read anew, and what is gone goes", async () => {
  const { panes, pane: known } = await kept();
  await until(() => expect(panes()).toHaveLength(3));
  stored.delete("run_0");
  await gateway.catchUp();
  await until(() => expect(known("run_0")).toBeUndefined());
});

test("what somebody removes in one tab goes from every tab", async () => {
  const { panes, pane: known, refresh } = await kept();
  await until(() => expect(panes()).toHaveLength(3));
  stored.delete("run_1");
  refresh();
  await until(() => expect(known("run_1")).toBeUndefined());
});

test("a run that is removed without a word goes while somebody looks", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const { pane: known, watchPanes } = await kept();
  const stop = watchPanes();
  await until(() => expect(known("run_1")).toBeDefined());
  stored.delete("run_1");
  await vi.advanceTimersByTimeAsync(10_000);
  await until(() => expect(known("run_1")).toBeUndefined());
  stop();
  vi.useRealTimers();
});

test("a run that falls silent is looked at again when it would count as stalled", async () => {
  stored.set("run_9", { ...NEW, stalls_at: new Date(Date.now() + 100).toISOString() });
  const { panes, pane: known } = await kept();
  await until(() => expect(panes()).toHaveLength(3));
  stored.set("run_9", { ...NEW, stalls_at: null, stalled: true, attention: true });
  await until(() => expect(known("run_9")?.stalled).toBe(true));
});

test("a gateway that does not answer is told, and what is known stays", async () => {
  const { panes, failure, reload } = await kept();
  await until(() => expect(panes()).toHaveLength(3));
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
  await reload();
  expect(failure.value).toMatchObject({ message: "The gateway does not answer." });
  expect(panes()).toHaveLength(3);
});
