// @vitest-environment happy-dom
/** Questions change by themselves when they are answered, wherever that happens. */
import { beforeEach, expect, test, vi } from "vitest";
import type { Approval } from "../../src/wire/resources/decisions";
import { Gateway, list, No, until } from "./gateway";
import { answered, approval } from "./samples";

const FIRST = approval("appr_1");
const SECOND = approval("appr_2");

let gateway: Gateway;
let stored: Map<string, Approval>;

beforeEach(() => {
  vi.resetModules();
  gateway = new Gateway();
  stored = new Map();
  gateway.on("GET approvals", () => list([...stored.values()].filter((one) => one.status === "pending")));
  for (const one of [SECOND, FIRST]) put(one);
});

function put(one: Approval): void {
  stored.set(one.approval_id, one);
  gateway.on(`GET approvals/${one.approval_id}`, () => stored.get(one.approval_id));
}

async function kept() {
  const live = await import("../../src/wire/live");
  const store = await import("../../src/wire/approvals");
  live.goLive();
  store.keepApprovals();
  await until(() => expect(store.pending.value).toEqual(["appr_1", "appr_2"]));
  return store;
}

test("those that have waited longest come first", async () => {
  const { pending } = await kept();
  expect(pending.value).toEqual(["appr_1", "appr_2"]);
});

test("a question that comes is there by itself, and one that is answered elsewhere says by whom", async () => {
  const store = await kept();
  put(approval("appr_3"));
  stored.set("appr_1", answered(FIRST));
  await gateway.say(
    { type: "approval.requested", run_id: "run_1", sequence: 7, data: { approval_id: "appr_3" } },
    { type: "approval.resolved", run_id: "run_1", sequence: 8, data: { approval_id: "appr_1" } },
  );
  await until(() => expect(store.pending.value).toEqual(["appr_2", "appr_3"]));
  expect(store.approval("appr_1").value).toMatchObject({ status: "approved", by: "anna" });
});

test("an answer shows at once, before any event tells of it", async () => {
  const store = await kept();
  gateway.on("POST approvals/appr_1/resolve", ({ body }) => {
    expect(body).toEqual({ decision: "denied", comment: "not on a Friday", stop: true });
    return answered(FIRST, { status: "denied", decision: "denied", comment: "not on a Friday" });
  });
  await store.answer("appr_1", { decision: "denied", comment: "not on a Friday", stop: true });
  expect(store.approval("appr_1").value).toMatchObject({ status: "denied", comment: "not on a Friday" });
  expect(store.pending.value).toEqual(["appr_2"]);
});

test("whoever comes second is refused and sees who was first", async () => {
  const store = await kept();
  gateway.on("POST approvals/appr_1/resolve", () => {
    stored.set("appr_1", answered(FIRST));
    return new No(409, "already_resolved", "it was approved already");
  });
  await expect(store.answer("appr_1", { decision: "denied" })).rejects.toThrow("it was approved already");
  expect(store.approval("appr_1").value).toMatchObject({ status: "approved", by: "anna" });
});

test("a question that was answered never waits again, whatever comes late", async () => {
  const store = await kept();
  gateway.on("POST approvals/appr_1/resolve", () => answered(FIRST));
  await store.answer("appr_1", { decision: "approved" });
  // The gateway of this test still says that it waits: an answer from before.
  await gateway.catchUp();
  put(approval("appr_4"));
  await gateway.say({ type: "approval.requested", run_id: "run_1", sequence: 9, data: { approval_id: "appr_4" } });
  await until(() => expect(store.pending.value).toEqual(["appr_2", "appr_4"]));
});

test("what was answered while the link was lost is known when it is back", async () => {
  const store = await kept();
  stored.set("appr_2", answered(SECOND, { status: "timed_out", decision: null, by: null }));
  await gateway.catchUp();
  await until(() => expect(store.pending.value).toEqual(["appr_1"]));
  await until(() => expect(store.approval("appr_2").value).toMatchObject({ status: "timed_out" }));
});

test("a question that does not exist says so", async () => {
  const store = await kept();
  const nobody = store.approval("appr_nobody");
  await until(() => expect(nobody.value).toMatchObject({ status: 404 }));
});

test("events that name no question, or something else than one, are passed over", async () => {
  const store = await kept();
  const before = gateway.asked.length;
  await gateway.say(
    { type: "approval.resolved", run_id: "run_1", sequence: 1, data: {} },
    { type: "approval.resolved", run_id: "run_1", sequence: 2, data: { approval_id: ["appr_1"] } },
    { type: "approval.resolved", run_id: "run_1", sequence: 3, data: { approval_id: "appr_1" } },
  );
  await until(() => expect(gateway.asked.slice(before)).toEqual(["GET approvals/appr_1"]));
  expect(store.pending.value).toEqual(["appr_1", "appr_2"]);
});
