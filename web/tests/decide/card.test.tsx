// @vitest-environment happy-dom
/** A card shows exactly what would happen, sends what was decided, and changes when somebody else decides. */
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Approval } from "../../src/wire/resources/decisions";
import { Gateway, No, until } from "../wire/gateway";
import { answered, approval, grants } from "../wire/samples";

let gateway: Gateway;
let stored: Approval;
let sent: unknown[];
let drawn: HTMLElement;

beforeEach(() => {
  vi.resetModules();
  gateway = new Gateway();
  sent = [];
  gateway.on("POST approvals/appr_1/resolve", ({ body }) => {
    sent.push(body);
    stored = answered(stored, { by: "operator" });
    return stored;
  });
});

afterEach(() => {
  render(null, drawn);
  drawn.remove();
});

async function shown(of: Partial<Approval> = {}): Promise<HTMLElement> {
  stored = approval("appr_1", of);
  gateway.on("GET approvals/appr_1", () => stored);
  const live = await import("../../src/wire/live");
  const { keepApprovals } = await import("../../src/wire/approvals");
  const { ApprovalCard } = await import("../../src/decide/ApprovalCard");
  gateway.on("GET approvals", () => ({ data: [], has_more: false, next_cursor: null }));
  live.goLive();
  keepApprovals();
  const root = document.createElement("div");
  drawn = root;
  document.body.append(root);
  render(<ApprovalCard approvalId="appr_1" />, root);
  await until(() => expect(root.querySelector("h3")).not.toBeNull());
  return root;
}

async function press(root: HTMLElement, name: string): Promise<void> {
  const find = () => [...root.querySelectorAll("button")].find((one) => one.textContent?.trim() === name);
  await until(() => {
    if (find()?.disabled !== false) throw new Error(`there is no button ${name} to press`);
  });
  find()?.click();
}

function type(field: Element | null | undefined, text: string): void {
  if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement)) throw new Error("no field");
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function choose(root: HTMLElement, label: string): void {
  const found = [...root.querySelectorAll("label")].find((one) => one.textContent?.trim() === label);
  const box = found?.querySelector("input");
  if (!box) throw new Error(`there is no ${label}`);
  box.checked = true;
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

async function says(root: HTMLElement, text: string): Promise<void> {
  await until(() => expect(root.textContent).toContain(text));
}

test("it shows the command, why it asks, and what it would do", async () => {
  const root = await shown({ input: { command: "npm test", cwd: "web" } });
  expect(root.querySelector("pre")?.textContent).toBe("npm test");
  for (const text of ["commands are asked about", "executes", "/srv/shop", "cwd", "web"]) {
    expect(root.textContent).toContain(text);
  }
});

test("approving sends one approval of this call only", async () => {
  const root = await shown();
  await press(root, "Approve");
  await says(root, "Approved by operator");
  expect(sent).toEqual([{ decision: "approved", scope: "once" }]);
});

test("a wider scope shows the rule that it makes; one that cannot be granted cannot be chosen", async () => {
  const root = await shown();
  expect(root.textContent).toContain("Allows: this call only");
  const session = [...root.querySelectorAll("label")].find((one) => one.textContent === "This session");
  expect(session?.querySelector("input")?.disabled).toBe(true);
  choose(root, "This task");
  await says(root, "Allows from now on: shell_exec may run `npm test`, in this task");
  await press(root, "Approve");
  await says(root, "Approved by operator");
  expect(sent).toEqual([{ decision: "approved", scope: "task" }]);
});

test("denying sends the reason, and stops the run when that is wanted", async () => {
  const root = await shown();
  await press(root, "Deny…");
  await says(root, "Why not?");
  type(root.querySelector("textarea"), "  not on a Friday ");
  choose(root, "Stop the run as well");
  await press(root, "Deny and stop");
  await until(() => expect(sent).toEqual([{ decision: "denied", comment: "not on a Friday", stop: true }]));
});

test("an edited input shows the rule for what it is now, and is what is sent", async () => {
  gateway.on("POST approvals/appr_1/preview", ({ body }) => {
    expect(body).toEqual({ edited_input: { command: "npm run lint" } });
    return { object: "preview", approval_id: "appr_1", grants: grants("npm run lint") };
  });
  const root = await shown();
  choose(root, "Always");
  await press(root, "Edit…");
  await says(root, "Edit as JSON");
  type(root.querySelector("textarea"), "npm run lint");
  await says(root, "shell_exec may run `npm run lint`, until it is revoked");
  await press(root, "Approve the changed input");
  await until(() =>
    expect(sent).toEqual([{ decision: "approved", scope: "always", edited_input: { command: "npm run lint" } }]),
  );
});

test("an input that the gateway would refuse says why and cannot be sent", async () => {
  gateway.on("POST approvals/appr_1/preview", () => new No(422, "invalid_body", "command: expected text"));
  const root = await shown();
  await press(root, "Edit…");
  await says(root, "Edit as JSON");
  type(root.querySelector("textarea"), "");
  await says(root, "command: expected text");
  const button = [...root.querySelectorAll("button")].find((one) => one.textContent === "Approve the changed input");
  expect(button?.disabled).toBe(true);
});

test("what is no JSON cannot be sent, and a field that was right does not hide one that is wrong", async () => {
  gateway.on("POST approvals/appr_1/preview", () => ({ grants: grants("x") }));
  const root = await shown({ input: { command: "ls", timeout_s: 5 } });
  await press(root, "Edit…");
  await says(root, "(JSON)");
  const [command, timeout] = root.querySelectorAll("textarea");
  await act(() => type(timeout, "5 s"));
  expect(root.textContent).toContain("timeout_s: this is no JSON.");
  await act(() => type(command, "ls -l"));
  expect(root.textContent).toContain("timeout_s: this is no JSON.");
  expect(sent).toEqual([]);
});

test("answered elsewhere: the card changes by itself, says who, and that what was being written was not sent", async () => {
  const root = await shown();
  await press(root, "Deny…");
  await says(root, "Why not?");
  stored = answered(stored, { scope: "task", comment: "go ahead" });
  await gateway.say({ type: "approval.resolved", run_id: "run_1", sequence: 9, data: { approval_id: "appr_1" } });
  await says(root, "Approved by anna");
  for (const text of ["for this task", "go ahead", "What you wrote was not sent."])
    expect(root.textContent).toContain(text);
  expect(root.querySelector("button")).toBeNull();
});

test("a call that cannot be edited says why", async () => {
  const root = await shown({ editable: false, not_editable: "the agent takes no other input than its own" });
  expect(root.textContent).toContain("the agent takes no other input than its own");
});

test("a question that wants an answer takes one of its choices", async () => {
  const root = await shown({ needs_person: true, summary: "Colour?", input: { options: ["red", "blue"] } });
  choose(root, "blue");
  await press(root, "Answer");
  await until(() => expect(sent).toEqual([{ decision: "approved", edited_input: { value: "blue" } }]));
});

test("hostile text is text: no element comes of it, and what hides is told", async () => {
  const evil = `<img src=x onerror="alert(1)">\u202e`;
  const root = await shown({
    summary: evil,
    policy_reason: evil,
    workspace: evil,
    input: { [evil]: evil, command: evil },
  });
  expect(root.querySelector("img, script")).toBeNull();
  expect(root.querySelector("pre")?.textContent).toBe(`<img src=x onerror="alert(1)">\\u{202e}`);
});

test("a denial that is half written is still there when a list has taken the card away and brought it back", async () => {
  const root = await shown();
  await press(root, "Deny…");
  await says(root, "Why not?");
  await act(() => type(root.querySelector("textarea"), "not on a Fri"));
  const { ApprovalCard } = await import("../../src/decide/ApprovalCard");
  await act(() => render(null, root));
  expect(root.querySelector("textarea")).toBeNull();
  await act(() => render(<ApprovalCard approvalId="appr_1" />, root));
  await until(() => expect(root.querySelector("textarea")?.value).toBe("not on a Fri"));
  // Who scrolls past it does not want to write on.
  expect(document.activeElement).not.toBe(root.querySelector("textarea"));
});
