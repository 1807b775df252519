/** Draws texts in every way that makes HTML, and tells what stands in the page then. */
import * as smd from "streaming-markdown";
import { ansi, ansiParts } from "../../src/draw/ansi";
import { safeRenderer } from "../../src/draw/Live";
import { markdown } from "../../src/draw/markdown";

export type Way = "finished" | "live" | "printed";

export interface Drawn {
  readonly text: string;
  readonly elements: readonly { tag: string; text: string; attributes: Record<string, string> }[];
}

const WAYS: Record<Way, (box: HTMLElement, text: string) => void> = {
  finished: (box, text) => {
    for (const part of markdown(text)) add(box, part.html());
  },
  live: (box, text) => {
    const parser = smd.parser(safeRenderer(box));
    for (let at = 0; at < text.length; at += 3) smd.parser_write(parser, text.slice(at, at + 3));
    smd.parser_end(parser);
  },
  printed: (box, text) => {
    for (const part of ansiParts(text)) add(box, ansi(part));
  },
};

function add(box: HTMLElement, html: string): void {
  const piece = document.createElement("div");
  piece.innerHTML = html;
  box.append(...piece.childNodes);
}

const input: [Way, string][] = JSON.parse(document.getElementById("input")?.textContent ?? "[]");
const boxes = input.map(([way, text]) => {
  const box = document.createElement("div");
  document.body.append(box);
  WAYS[way](box, text);
  return box;
});
const drawn = boxes.map(
  (box): Drawn => ({
    text: box.textContent ?? "",
    elements: [...box.querySelectorAll("*")].map((element) => ({
      tag: element.tagName.toLowerCase(),
      text: element.textContent ?? "",
      attributes: Object.fromEntries(
        element.getAttributeNames().map((name) => [name, element.getAttribute(name) ?? ""]),
      ),
    })),
  }),
);
// What loads or fails to load gets time to act before the page is asked whether anything did.
setTimeout(() => {
  const answer = JSON.stringify({ drawn, hacked: "hacked" in window });
  document.body.dataset.answer = encodeURIComponent(answer);
}, 500);
