/** What a call is about is told by its most telling argument, on one line. */
import { expect, test } from "vitest";
import { commandOf, titleOf } from "../../src/fold/titles";
import { oneLine } from "../../src/text/harmless";

test.each([
  [{ path: "a.txt", content: "…" }, "a.txt"],
  [{ pattern: "*.ts", command: "ls" }, "ls"],
  [{ command: ["bash", "-lc", "make test"] }, "make test"],
  [{ cmd: ["git", "status"] }, "git status"],
  [{ command: "  ", url: "https://example.org" }, "https://example.org"],
  [{ edits: [{ path: "a" }, { path: "b" }, { path: "a" }, null, { path: 7 }] }, "a, b"],
  [{ todos: [1, 2] }, '{"todos":[1,2]}'],
  [{ command: 7 }, '{"command":7}'],
  [{}, ""],
])("%j: %s", (input, title) => {
  expect(titleOf(input)).toBe(title);
});

test("a command is what somebody would type", () => {
  expect(commandOf(["/bin/sh", "-c", "ls | wc"])).toBe("ls | wc");
  expect(commandOf(["sh", "-x", "script"])).toBe("sh -x script");
  expect(commandOf([])).toBe("");
});

test("a line is short, on one line, and never ends in half a character", () => {
  expect(oneLine("  a\r\n\tb  ")).toBe("a b");
  expect(oneLine("x".repeat(500))).toBe(`${"x".repeat(399)}…`);
  expect(oneLine(`${"x".repeat(398)}😀😀`)).toBe(`${"x".repeat(398)}…`);
});
