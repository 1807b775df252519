/** Of a long output the end is kept, and all of it is counted. */
import { expect, test } from "vitest";
import type { Tool } from "../../src/fold/blocks";
import { KEPT_CHARS } from "../../src/fold/output";
import { folded, type Happened, log, logOf } from "./logs";

type Chunk = readonly [stream: "stdout" | "stderr", text: string];

function printed(...chunks: readonly Chunk[]): Tool {
  const call = { tool_call_id: "call_1", tool_name: "shell_exec", kind: "shell" };
  const invoked: Happened = ["tool.invoked", { ...call, turn_index: 0 }];
  const said = chunks.map(
    ([stream, data]): Happened => ["tool.shell.output_chunk", { tool_call_id: "call_1", stream, data, byte_offset: 0 }],
  );
  const [block] = folded(logOf([invoked, ...said])).blocks;
  if (block?.kind !== "tool") throw new Error("no tool");
  return block;
}

function text({ output }: Tool): string {
  return output.pieces.map((piece) => piece.text).join("");
}

test("pieces stand in the order in which they were printed, with their streams", () => {
  const block = printed(["stdout", "a"], ["stdout", "b"], ["stderr", "c"], ["stderr", ""], ["stdout", "d"]);
  expect(block.output).toEqual({
    pieces: [
      { stream: "stdout", text: "ab" },
      { stream: "stderr", text: "c" },
      { stream: "stdout", text: "d" },
    ],
    chars: 4,
    kept: 4,
    cut: false,
  });
});

test("of very much, whole lines from the end are kept", () => {
  const chunk = Array.from({ length: 1_000 }, (_, line) => `${String(line).padStart(7, "0")}\n`).join("");
  const block = printed(...Array.from({ length: 100 }, (): Chunk => ["stdout", chunk]));
  expect(block.output).toMatchObject({ chars: 100 * chunk.length, cut: true });
  expect(text(block)).toMatch(/^\d{7}\n/);
  expect(text(block).endsWith("0000999\n")).toBe(true);
  expect(text(block).length).toBe(block.output.kept);
  expect(text(block).length).toBeGreaterThan(KEPT_CHARS / 4);
});

test.each([
  ["one chunk without a line end", [["stdout", "x".repeat(1_000_000)]]],
  ["one chunk whose only line end is its last character", [["stdout", `${"x".repeat(1_000_000)}\n`]]],
  [
    "both streams by turns",
    Array.from({ length: 8_000 }, (_, turn) => [turn % 2 ? "stderr" : "stdout", "x".repeat(20)]),
  ],
  ["small pieces without a line end", Array.from({ length: 8_000 }, () => ["stdout", "x".repeat(30)])],
] as [string, Chunk[]][])("never more than the limit is kept: %s", (_, chunks) => {
  const block = printed(...chunks);
  expect(text(block).length).toBe(block.output.kept);
  expect(block.output.kept).toBeLessThanOrEqual(KEPT_CHARS);
  expect(block.output.kept).toBeGreaterThan(KEPT_CHARS / 4);
  expect(block.output.chars).toBe(chunks.reduce((sum, [, piece]) => sum + piece.length, 0));
  expect(block.output.cut).toBe(true);
});

test("what a call says at its end is not said again when it was printed", () => {
  const call = { tool_call_id: "c", tool_name: "shell_exec", kind: "shell" };
  const ended = ["tool.completed", { ...call, duration_ms: 1, output: "a\nexit 0" }] as const;
  const chunk = [
    "tool.shell.output_chunk",
    { tool_call_id: "c", stream: "stdout", data: "a\n", byte_offset: 0 },
  ] as const;
  const shown = (...events: Happened[]) => {
    const [block] = folded(log(...events)).blocks;
    return block?.kind === "tool" ? text(block) : null;
  };
  expect(shown(chunk, ended)).toBe("a\n");
  expect(shown(ended)).toBe("a\nexit 0");
});
