/** Nothing that is to be decided about can hide. */
import { expect, test } from "vitest";
import { visible } from "../../src/decide/visible";

function spelled(text: string): string {
  return visible(text)
    .map((piece) => (piece.told ? `[${piece.text}]` : piece.text))
    .join("");
}

test.each([
  ["rm -rf / #\u202e tset", "rm -rf / #[\\u{202e}] tset"],
  ["ls\u200b -l", "ls[\\u{200b}] -l"],
  ["echo \u001b[2Ksafe", "echo [\\u{1b}][2Ksafe"],
  ["ls\rrm", "ls[\\u{d}]rm"],
  ["a\u00a0b", "a[\\u{a0}]b"],
  ["x\u{e0041}", "x[\\u{e0041}]"],
  ["\u2028", "[\\u{2028}]"],
])("%j is shown as %s", (text, shown) => {
  expect(spelled(text)).toBe(shown);
});

test("what can be seen stays as it is: lines, tabs, and the letters of all languages", () => {
  const text = "für\tdie Straße\nпривет 你好 😀";
  expect(visible(text)).toEqual([{ text, told: false }]);
  expect(visible("")).toEqual([]);
});
