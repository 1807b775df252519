// @vitest-environment happy-dom
/** The form begins as it was left, without anything that is not for the next time. */
import { beforeEach, expect, test } from "vitest";
import { EMPTY } from "../../src/pages/start/draft";
import { begun, keep } from "../../src/pages/start/habits";

const NOWHERE = new URLSearchParams();

beforeEach(() => localStorage.clear());

test("the first time nothing is chosen", () => {
  expect(begun(NOWHERE)).toEqual(EMPTY);
});

test("agent, model, place and policy are kept; what was asked and what may be secret is not", () => {
  const draft = { ...EMPTY, agent: "codex", model: "m", path: "/w", mode: "clone" as const, policy: "ask" };
  keep({ ...draft, prompt: "secret plan", env: "KEY=1", mcp: "{}", rules: "{}", title: "t" });
  expect(begun(NOWHERE)).toEqual(draft);
  expect(JSON.stringify(localStorage)).not.toMatch(/secret|KEY/);
});

test("a link says more than habits", () => {
  keep({ ...EMPTY, agent: "codex" });
  const link = new URLSearchParams("agent=native&session=chat_1&prompt=Hello&mode=scratch&policy=trust");
  expect(begun(link)).toMatchObject({
    agent: "native",
    session: "chat_1",
    prompt: "Hello",
    mode: "scratch",
    policy: "",
  });
});

test.each(["null", "[]", "not JSON", '{"mode":"__proto__","agent":7,"prompt":"x"}'])(
  "habits that make no sense (%s) are forgotten",
  (kept) => {
    localStorage.setItem("runwire.start", kept);
    expect(begun(NOWHERE)).toEqual(EMPTY);
  },
);
