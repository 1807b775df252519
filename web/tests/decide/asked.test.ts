/** What a call asks for is shown as what it is, and nothing of its input is left out. */
import { expect, test } from "vitest";
import { quoted, readAsked, readOffer } from "../../src/decide/asked";
import { linesOfChange, linesOfDiff } from "../../src/decide/signed";

function asked(input: Record<string, unknown>, tool_name = "tool") {
  return readAsked({ input, tool_name });
}

test("a command is shown as a command, and what else it was given beside it", () => {
  expect(asked({ command: "npm test", cwd: "web" })).toMatchObject({ command: "npm test", rest: { cwd: "web" } });
});

test("a list of words is shown as they would have to be typed, so that none can pass for two", () => {
  expect(asked({ command: ["rm", "-rf", "a b", "it's"] }).command).toBe(`rm -rf 'a b' 'it'\\''s'`);
  expect(asked({ args: ["commit", "-m", ""] }, "git").command).toBe("git commit -m ''");
  expect(quoted(["$(id)"])).toBe("'$(id)'");
});

test.each([
  [{ path: "a.py", old_text: "1", new_text: "2" }, "1", "2"],
  [{ file_path: "a.py", old_string: "1", new_string: "2" }, "1", "2"],
  [{ filePath: "a.py", oldString: "1", newString: "2" }, "1", "2"],
  [{ path: "a.py", content: "2" }, null, "2"],
])("%j is a change to a.py", (input, before, after) => {
  expect(asked(input)).toMatchObject({ changes: [{ path: "a.py", before, after }], rest: {} });
});

test("several edits are several changes, in one file or in many", () => {
  const edits = [
    { path: "a", old_text: "1", new_text: "2" },
    { path: "b", old_text: "3", new_text: "4" },
  ];
  expect(asked({ edits }).changes.map(({ path }) => path)).toEqual(["a", "b"]);
  const inOne = asked({ file_path: "c", edits: [{ old_string: "1", new_string: "2" }] });
  expect(inOne).toMatchObject({ changes: [{ path: "c" }], rest: {} });
});

test.each([
  { edits: [{ path: "a", old_text: "1", new_text: "2" }, { path: "b" }] },
  { edits: [{ path: "a", old_text: "1", new_text: "2", replace_all: true }] },
  { edits: [{ path: "a", old_text: "1", new_text: "2" }, "rm"] },
])("edits that are not understood whole are shown as they came: %j", (input) => {
  expect(asked(input)).toMatchObject({ changes: [], rest: input });
});

test("a field that the change does not speak of stays in sight", () => {
  const { changes, rest } = asked({ path: "a", old_text: "1", new_text: "2", replace_all: true });
  expect(changes).toHaveLength(1);
  expect(rest).toEqual({ replace_all: true });
});

test.each([{}, { url: "https://example.org", method: "POST" }, { command: 7 }, { edits: [] }, { path: "a" }])(
  "an input that nobody knows is shown field by field: %j",
  (input) => {
    expect(asked(input)).toEqual({ command: null, changes: [], diff: null, rest: input });
  },
);

test("a replacement says what goes, what comes and what stays", () => {
  const change = { path: "a", before: "one\ntwo\nthree", after: "one\n2\nthree" };
  expect(linesOfChange(change).map(({ sign, text }) => sign + text)).toEqual([" one", "-two", "+2", " three"]);
  expect(linesOfChange({ path: "a", before: null, after: "x\ny\n" }).map(({ sign }) => sign)).toEqual(["+", "+"]);
});

test("a diff is shown line by line, and a line that looks like none is not lost", () => {
  const lines = linesOfDiff("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\nwhat is this");
  expect(lines.map(({ sign }) => sign)).toEqual(["@", "@", "@", "-", "+", " ", " "]);
  expect(lines.at(-1)?.text).toBe("what is this");
});

test("a question offers its choices, by whatever agent it comes", () => {
  const summary = "Which one?";
  expect(readOffer({ summary, input: { options: ["a", "b"] } })).toMatchObject({ text: summary, choices: ["a", "b"] });
  const claude = { questions: [{ question: "Colour?", options: [{ label: "red" }, { label: "blue" }] }] };
  expect(readOffer({ summary, input: claude })).toEqual({ text: "Colour?", choices: ["red", "blue"], value: "" });
  expect(readOffer({ summary, input: { questions: ["How old?"] } })).toMatchObject({ text: "How old?", choices: [] });
  expect(readOffer({ summary, input: { options: [7, null, {}] } })).toMatchObject({ text: summary, choices: [] });
});
