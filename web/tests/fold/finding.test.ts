/** Events are found by patterns of their types and by words in what they say. */
import { expect, test } from "vitest";
import { find, typeFilter } from "../../src/fold/finding";
import { envelope, fixture, log } from "./logs";

test.each([
  ["run.*", "run.started", true],
  ["run.*", "tool.run.started", false],
  ["*.started", "tool.started", true],
  ["tool.*.completed", "tool.file_read.completed", true],
  ["tool.*.completed", "tool.completed", false],
  ["t*l*c*d", "tool.shell.command", true],
  ["a*a", "a", false],
  ["a*bc*c", "abc", false],
  ["*", "Anything At All", true],
  ["run.queued, run.started", "run.started", true],
  ["run.start", "run.started", false],
  ["", "run.started", true],
])("the filter “%s” and the type %s: %s", (pattern, type, fits) => {
  expect(typeFilter(pattern)).toMatchObject({ wrong: null });
  expect(typeFilter(pattern).fits(type)).toBe(fits);
});

test.each(["run.started;", "Run.*", "run.*,", "run .*", "(a+)+$"])(
  "“%s” is no filter: it says why, and nothing fits",
  (text) => {
    expect(typeFilter(text).wrong).toContain("is not a type pattern: use names such as run.started");
    expect(typeFilter(text).fits("run.started")).toBe(false);
  },
);

const LINES = log(
  ["user.message", { turn_index: 0, text: 'Say "Hello"\nto $& (all)' }],
  ["tool.shell.exited", { tool_call_id: "call_7", exit_code: 137, stdout_bytes: 0, stderr_bytes: 0 }],
  ["acme.deep", { list: [{ inner: ["needle"] }] }],
);

test.each([
  ['"hello"\nTO', [0]],
  ["$& (ALL)", [0]],
  ["137", [1]],
  ["needle", [2]],
  ["exit_code", []],
  ["schema_version", []],
  ["deep", [2]],
  ["evt_1", [1]],
  ["nothing of this", []],
  ["", [0, 1, 2]],
])("the words “%s” stand in %j", (text, found) => {
  expect(find(LINES, { types: "", text })).toEqual(found);
});

test("types and words are both wanted, and only of what is new", () => {
  const lines = fixture("approved");
  const types = lines.flatMap(({ event }, index) => (event.type.startsWith("tool.") ? [index] : []));
  expect(find(lines, { types: "tool.*", text: "" })).toEqual(types);
  const [first = 0, ...others] = find(lines, { types: "tool.*", text: "call_" });
  expect(others.length).toBeGreaterThan(0);
  expect(find(lines, { types: "tool.*", text: "call_" }, first + 1)).toEqual(others);
});

test("data that is nested deeper than the stack is searched", () => {
  const depth = 200_000;
  const data = JSON.parse(`{"deep":${"[".repeat(depth)}"needle"${"]".repeat(depth)}}`);
  const lines = [{ line: "", event: { ...envelope(0, "acme.deep", {}), data } }];
  expect(find(lines, { types: "", text: "needle" })).toEqual([0]);
});
