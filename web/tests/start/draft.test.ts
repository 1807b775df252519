/** What is typed into the form is what the gateway is sent, and what is wrong is said at its field. */
import { expect, test } from "vitest";
import { type Draft, EMPTY, fieldOf, written } from "../../src/pages/start/draft";

const DRAFT: Draft = { ...EMPTY, prompt: "Mend it", model: "scripted:a.json", path: "/work", mode: "in_place" };

test("a plain task has a prompt, an agent, a model and a place, and nothing that was not said", () => {
  expect(written(DRAFT)).toEqual({
    problems: {},
    body: {
      prompt: "Mend it",
      agent: "native",
      model: "scripted:a.json",
      workspace: { path: "/work", mode: "in_place" },
    },
  });
});

test("everything that can be said is sent by the gateway's names", () => {
  const { body, problems } = written({
    ...DRAFT,
    budget: "2.50",
    policy: "ask",
    session: " chat_1 ",
    title: "A title",
    turns: "12",
    timeout: "600",
    experimental: ["run.branched"],
    mcp: '{"files":{"command":"x"}}',
    env: "A=1\n\nB=x=y ",
    attachments: [{ name: "a.png", mime: "image/png", base64: "AA==", bytes: 1 }],
  });
  expect(problems).toEqual({});
  expect(body).toMatchObject({
    budget_micros_usd: 2_500_000,
    policy: "ask",
    session_id: "chat_1",
    title: "A title",
    max_turns: 12,
    timeout_s: 600,
    experimental: ["run.branched"],
    mcp_servers: { files: { command: "x" } },
    env: { A: "1", B: "x=y " },
    attachments: [{ mime: "image/png", base64: "AA==" }],
  });
});

test("an empty folder needs no path", () => {
  expect(written({ ...DRAFT, mode: "scratch", path: "" })).toMatchObject({
    problems: {},
    body: { workspace: { mode: "scratch" } },
  });
});

test("rules of one's own are sent as they were written", () => {
  const { body } = written({ ...DRAFT, policy: "rules", rules: '{"default":"ask"}' });
  expect(body.policy).toEqual({ default: "ask" });
});

test("servers out of another agent's configuration file are understood", () => {
  const { body } = written({ ...DRAFT, mcp: '{"mcpServers":{"files":{"command":"x"}}}' });
  expect(body.mcp_servers).toEqual({ files: { command: "x" } });
});

test.each<[Partial<Draft>, string]>([
  [{ prompt: "  " }, "prompt"],
  [{ path: "" }, "path"],
  [{ budget: "a lot" }, "budget"],
  [{ turns: "0" }, "turns"],
  [{ timeout: "1.5" }, "timeout"],
  [{ policy: "rules", rules: "ask" }, "rules"],
  [{ policy: "rules", rules: "" }, "rules"],
  [{ policy: "rules", rules: "[1]" }, "rules"],
  [{ mcp: "{" }, "mcp"],
  [{ env: "NAME" }, "env"],
])("%o is wrong at the field %s, and only there", (changed, field) => {
  expect(Object.keys(written({ ...DRAFT, ...changed }).problems)).toEqual([field]);
});

test.each([
  ["invalid_body", { field: "budget_micros_usd" }, "budget"],
  ["invalid_body", { field: "mcp_servers.files.command" }, "mcp"],
  ["invalid_body", { field: "attachments[0].mime" }, "attachments"],
  ["unknown_field", { field: "policy.rules[0].tool" }, "policy"],
  ["task_invalid", { field: "workspace.path" }, "path"],
  ["invalid_body", { field: "workspace.mode" }, "mode"],
  ["agent_unknown", { agent: "x" }, "agent"],
  ["model_unknown", { model: "x" }, "model"],
  ["price_unknown", { model: "x" }, "budget"],
  ["workspace_invalid", { path: "/x" }, "path"],
  ["invalid_body", { field: "constructor" }, null],
  ["forbidden", { field: 7 }, null],
  ["toString", {}, null],
])("the refusal %s about %o belongs to the field %s", (code, details, field) => {
  expect(fieldOf(code, details)).toBe(field);
});
