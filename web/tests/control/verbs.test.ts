/** What is offered for a run is what the gateway would do, and nothing is sent that was not said. */
import { expect, test } from "vitest";
import { micros } from "../../src/control/money";
import { type Again, bodyOf, offered, scopeOf } from "../../src/control/verbs";
import type { Status } from "../../src/wire/resources/runs";

const RUN = { run_id: "run_1", task_id: "task_1", kind: "agent_loop" };
const NOTHING: Again = { from: null, prompt: "", model: "", budgetMicros: null, attachments: [] };

test.each<Status>(["queued", "running", "awaiting_approval"])("a run that is %s can be steered and ended", (status) => {
  expect(offered({ ...RUN, status })).toEqual(["say", "cancel", "branch"]);
});

test.each<Status>(["completed", "failed", "cancelled"])("a run that is %s can be taken up again", (status) => {
  expect(offered({ ...RUN, status })).toEqual(["continue", "resume", "branch", "retry"]);
});

test("a run without a conversation can only be ended or done again", () => {
  expect(offered({ ...RUN, kind: "shell", status: "running" })).toEqual(["cancel"]);
  expect(offered({ ...RUN, kind: "shell", status: "failed" })).toEqual(["retry"]);
});

test("a run without a task was only told of, and nothing can be done with it", () => {
  expect(offered({ ...RUN, task_id: null, status: "running" })).toEqual([]);
});

test("what begins a run needs another permission than what steers one", () => {
  expect(offered({ ...RUN, status: "running" }).map(scopeOf)).toEqual(["operate", "operate", "write"]);
  expect(new Set(offered({ ...RUN, status: "failed" }).map(scopeOf))).toEqual(new Set(["write"]));
});

test("without a wish nothing but the verb is sent", () => {
  expect(bodyOf("resume", NOTHING)).toEqual({});
  expect(bodyOf("retry", NOTHING)).toEqual({});
  expect(bodyOf("branch", NOTHING)).toEqual({ branch: true });
  expect(bodyOf("continue", { ...NOTHING, prompt: "go on" })).toEqual({ prompt: "go on" });
});

test("every wish is sent, except a place to a run that begins from nothing", () => {
  const attachments = [{ name: "a.png", mime: "image/png", base64: "AA==", bytes: 1 }];
  const again: Again = { from: 0, prompt: "go on", model: " openai:gpt-5 ", budgetMicros: 2_500_000, attachments };
  const common = { model: "openai:gpt-5", budget_micros_usd: 2_500_000 };
  expect(bodyOf("continue", again)).toEqual({
    ...common,
    from_sequence: 0,
    prompt: "go on",
    attachments: [{ mime: "image/png", base64: "AA==" }],
  });
  expect(bodyOf("branch", again)).toEqual({ ...common, from_sequence: 0, branch: true });
  expect(bodyOf("retry", again)).toEqual(common);
});

test.each([
  ["2.50", 2_500_000],
  ["$ 2", 2_000_000],
  [".000001", 1],
  ["0", 0],
  ["0.29", 290_000],
  ["999999999", 999_999_999_000_000],
  [" ", null],
])("“%s” in dollars is %s micro-dollars", (typed, expected) => {
  expect(micros(typed)).toBe(expected);
});

test.each(["-1", "1e3", "1,50", "NaN", "Infinity", "0x10", "1.2.3", "0.0000001", "9999999999"])(
  "“%s” is no amount of dollars",
  (typed) => {
    expect(micros(typed)).toBeNaN();
  },
);
