// @vitest-environment happy-dom
/** Markdown that grows: what stands there stays, and only what is new is added. */
import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test } from "vitest";
import { Live } from "../../src/draw/Live";

let box = document.createElement("div");

beforeEach(() => {
  box = document.createElement("div");
});

function write(text: string): string {
  act(() => render(<Live text={text} />, box));
  return box.textContent ?? "";
}

test("each piece is added behind what stands there, which is not made again", () => {
  write("# Plan\n\nfirst ");
  const heading = box.querySelector("h3");
  expect(heading?.textContent).toBe("Plan");
  write("# Plan\n\nfirst **bo");
  expect(write("# Plan\n\nfirst **bold** and more")).toContain("first bold and");
  expect(box.querySelector("strong")?.textContent).toBe("bold");
  expect(box.querySelector("h3")).toBe(heading);
});

test("text that is not a continuation is drawn from the beginning", () => {
  write("one two three\n\n");
  expect(write("other words\n\n")).toBe("other words");
});

test("it reads the same in whatever pieces it comes", () => {
  const text = "# A\n\n- one\n- **two** `x`\n\n```py\nprint(1)\n```\n\nend\n\n";
  const whole = write(text);
  for (const size of [1, 2, 5]) {
    box = document.createElement("div");
    for (let end = size; end < text.length + size; end += size) write(text.slice(0, end));
    expect(box.textContent).toBe(whole);
  }
});
