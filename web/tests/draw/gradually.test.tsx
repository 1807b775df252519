// @vitest-environment happy-dom
/** What is long is drawn piece by piece, all of it, and at once when it comes back. */
import "@preact/signals";
import { render } from "preact";
import { expect, test, vi } from "vitest";
import { Finished } from "../../src/draw/Finished";
import { markdown } from "../../src/draw/markdown";
import { Printed } from "../../src/draw/Printed";

const PARAGRAPHS = Array.from({ length: 300 }, (_, nth) => `Paragraph ${nth} ${"word ".repeat(20)}[1]`);
const PROSE = [...PARAGRAPHS, "[1]: https://example.org/"].join("\n\n");
const OUTPUT = Array.from({ length: 1_000 }, (_, nth) => `line ${nth} ${"x".repeat(40)}\n`).join("");
// What must come is waited for, however busy the machine is.
const WAIT = { timeout: 50_000 };

test("a long text is drawn to its end over several frames, and at once when it comes back", async () => {
  const root = document.createElement("div");
  const isWhole = () => root.textContent?.includes("Paragraph 299 ") === true;
  render(<Finished text={PROSE} />, root);
  expect(root.textContent).toContain("Paragraph 0 ");
  expect(isWhole()).toBe(false);
  await vi.waitUntil(isWhole, WAIT);
  render(null, root);
  render(<Finished text={PROSE} />, root);
  expect(isWhole()).toBe(true);
  render(null, root);
});

test("a link that is explained at the end of a long text leads there from its beginning", () => {
  expect(String(markdown(PROSE)[0]?.html())).toContain("https://example.org/");
});

test("much output is drawn to its end over several frames", async () => {
  const root = document.createElement("div");
  const drawn = () => root.textContent?.length ?? 0;
  render(<Printed pieces={[{ stream: "stdout", text: OUTPUT }]} label="Output" />, root);
  expect(drawn()).toBeGreaterThan(0);
  expect(drawn()).toBeLessThan(OUTPUT.length);
  await vi.waitUntil(() => drawn() === OUTPUT.length, WAIT);
  render(null, root);
});

test("output that grows in place is shown as it grows", async () => {
  const root = document.createElement("div");
  const pieces = [{ stream: "stdout" as const, text: "begun\n" }];
  render(<Printed pieces={pieces} label="Output" />, root);
  expect(root.textContent).toBe("begun\n");
  for (const piece of pieces) piece.text += "over\n";
  render(<Printed pieces={pieces} label="Output" />, root);
  expect(root.textContent).toBe("begun\nover\n");
  render(null, root);
});

test("a short text is one part", () => {
  expect(markdown("# Hello\n\nworld")).toHaveLength(1);
});

test.each([
  ["lines", "some words\n".repeat(30_000)],
  ["one line", "x".repeat(300_000)],
])("a text that is too long for Markdown stays whole, as text: %s", (_, text) => {
  const parts = markdown(text);
  expect(parts.length).toBeGreaterThan(10);
  expect(parts.map((part) => String(part.html()).replace(/<\/?pre>/g, "")).join("")).toBe(text);
});
