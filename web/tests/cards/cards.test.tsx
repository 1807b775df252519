// @vitest-environment happy-dom
/** Every block has a card: of every run in the contract's fixtures, and of data that nobody expected. */
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Card } from "../../src/cards/Card";
import { isOpen, setOpen } from "../../src/cards/opened";
import { tailOf } from "../../src/cards/tail";
import type { Block } from "../../src/fold/blocks";
import { RunFold } from "../../src/fold/fold";
import { FIXTURES, log } from "../fold/logs";

const DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+two\n";

const asked: string[] = [];
vi.stubGlobal("fetch", async (url: URL) => {
  asked.push(url.pathname);
  return new Response(DIFF);
});

let box = document.createElement("div");

function fold(...events: readonly (readonly [type: string, data: unknown])[]): RunFold {
  const run = new RunFold();
  for (const { event } of log(...events)) run.take(event);
  return run;
}

function draw(block: Block, onRaw?: (sequence: number) => void): HTMLElement {
  act(() => render(<Card block={block} revision={block.revision} runId="run_1" {...(onRaw ? { onRaw } : {})} />, box));
  return box;
}

function only<K extends Block["kind"]>(run: RunFold, kind: K): Block & { kind: K } {
  const found = run.blocks.find((block): block is Block & { kind: K } => block.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

function toggle(): HTMLButtonElement {
  const found = box.querySelector<HTMLButtonElement>(".card-toggle");
  if (found === null) throw new Error("it does not open");
  return found;
}

afterEach(() => {
  act(() => render(null, box));
  box = document.createElement("div");
  asked.length = 0;
});

const SHELL = [
  ["tool.invoked", { tool_call_id: "call_1", tool_name: "shell_exec", kind: "shell", turn_index: 0 }],
  [
    "tool.shell.command",
    { tool_call_id: "call_1", argv: ["sh", "-c", "make"], cwd: "/w", env_keys: [], sandbox_layer: "bwrap" },
  ],
] as const;

describe("every run of the fixtures", () => {
  test.each(FIXTURES.map((one) => [one.name, one] as const))("is drawn, closed and open: %s", (_, { lines }) => {
    const run = new RunFold();
    for (const { event } of lines) run.take(event);
    expect(run.blocks.length).toBeGreaterThan(0);
    for (const block of run.blocks) {
      for (const open of [false, true]) {
        setOpen("run_1", block, open);
        expect(draw(block).textContent?.length).toBeGreaterThan(0);
      }
    }
  });
});

describe("a card", () => {
  test("leads to the stored event that it began with", () => {
    const raw: number[] = [];
    const run = fold(["run.queued", {}], ...SHELL);
    const block = only(run, "tool");
    draw(block, (sequence) => raw.push(sequence))
      .querySelector<HTMLButtonElement>(".card-raw")
      ?.click();
    expect(raw).toEqual([block.sequence]);
  });

  test("stays as the reader left it when the list takes it away and brings it back", () => {
    const block = only(fold(["weather.changed", { to: "rain" }]), "opaque");
    draw(block);
    expect(toggle().getAttribute("aria-expanded")).toBe("false");
    act(() => toggle().click());
    act(() => render(null, box));
    draw(block);
    expect(toggle().getAttribute("aria-expanded")).toBe("true");
    expect(isOpen("run_2", block, false)).toBe(false);
  });

  test("is drawn anew when its block has a new revision, and only then", () => {
    const run = fold(...SHELL);
    const block = only(run, "tool");
    draw(block);
    block.name = "renamed in secret";
    act(() => render(<Card block={block} revision={block.revision} runId="run_1" />, box));
    expect(box.textContent).not.toContain("renamed in secret");
    block.revision += 1;
    draw(block);
    expect(box.textContent).toContain("renamed in secret");
  });
});

describe("an unknown event", () => {
  test("shows its type and its data as they are, markup and all", () => {
    const block = only(fold(["<b>odd</b>.type", { deep: { list: [1, "<script>"] } }]), "opaque");
    draw(block);
    expect(box.querySelector(".card-title")?.textContent).toBe("<b>odd</b>.type");
    if (toggle().getAttribute("aria-expanded") === "false") act(() => toggle().click());
    expect(JSON.parse(box.querySelector("pre")?.textContent ?? "")).toEqual({ deep: { list: [1, "<script>"] } });
  });
});

describe("a command", () => {
  test("shows the end of its output while it is closed, and how it ended", () => {
    const lines = Array.from({ length: 20 }, (_, number) => `line ${number}\n`).join("");
    const run = fold(
      ...SHELL,
      ["tool.shell.output_chunk", { tool_call_id: "call_1", stream: "stdout", data: lines, byte_offset: 0 }],
      [
        "tool.shell.exited",
        { tool_call_id: "call_1", exit_code: 3, signal: null, stdout_bytes: 9, stderr_bytes: 0, truncated: false },
      ],
    );
    const { textContent } = draw(only(run, "tool"));
    expect(textContent).toContain("exit 3");
    expect(textContent).toContain("line 19");
    expect(textContent).not.toContain("line 9\n");
  });
});

describe("a change to a file", () => {
  const proposal = {
    tool_call_id: "call_1",
    path: "a.py",
    patch_artifact_id: "art_1",
    summary: "",
    auto_apply: true,
  };

  test("fetches its diff when it is opened, and not before", async () => {
    const block = only(fold(["tool.edit.proposed", proposal]), "edit");
    draw(block);
    expect(asked).toEqual([]);
    act(() => toggle().click());
    await vi.waitFor(() => expect(box.querySelector(".draw-diff")).not.toBeNull());
    expect(asked).toEqual(["/hecate/v1/artifacts/art_1/raw"]);
    expect([...box.querySelectorAll("tr.added, tr.removed")].map((row) => row.className)).toEqual(["removed", "added"]);
  });

  test("that waits for a person is open at once, and leads to the review", async () => {
    const waiting = { ...proposal, patch_artifact_id: "art_2", auto_apply: false };
    draw(only(fold(["run.queued", {}], ["tool.edit.proposed", waiting]), "edit"));
    await vi.waitFor(() => expect(box.querySelector(".draw-diff")).not.toBeNull());
    expect(box.querySelector<HTMLAnchorElement>(".card-body a")?.getAttribute("href")).toBe(
      "#/review/run_1?patch=art_2",
    );
  });
});

describe("the end of an output", () => {
  test("is its last lines, across pieces and streams", () => {
    const pieces = [
      { stream: "stdout" as const, text: "1\n2\n3\n4\n5\n" },
      { stream: "stderr" as const, text: "6\n7\n" },
    ];
    expect(tailOf(pieces)).toEqual([
      { stream: "stdout", text: "2\n3\n4\n5\n" },
      { stream: "stderr", text: "6\n7" },
    ]);
  });

  test("is short, however long the last line is", () => {
    expect(tailOf([{ stream: "stdout", text: "x".repeat(100_000) }])[0]?.text).toHaveLength(2_000);
    expect(tailOf([{ stream: "stdout", text: "\n\n\n" }])).toEqual([]);
  });
});
