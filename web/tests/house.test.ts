/** The rooms of the console: imports go down, and a module can be read in one sitting. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../src", import.meta.url));
// From the top to the bottom; rooms on one line do not know each other.
const LAYERS = [
  ["main.tsx"],
  ["shell"],
  ["pages"],
  ["cards"],
  ["decide", "control"],
  ["parts"],
  ["draw"],
  ["fold"],
  ["text", "wire"],
];
const LINES_MAX = 300;

const modules = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));

function roomOf(path: string): string {
  return path.split("/")[0] ?? "";
}

function heightOf(room: string): number {
  return LAYERS.length - LAYERS.findIndex((layer) => layer.includes(room));
}

function* imported(module: string): Generator<string> {
  for (const found of readFileSync(join(SRC, module), "utf8").matchAll(/(?:from |import |import\()"(\.[^"]+)"/g)) {
    yield normalize(join(dirname(module), found[1] ?? ""));
  }
}

describe("the house", () => {
  it("has a place for every module", () => {
    expect(modules.filter((module) => !LAYERS.flat().includes(roomOf(module)))).toEqual([]);
  });

  it("imports downwards only, and no page knows another", () => {
    const upwards: string[] = [];
    for (const module of modules) {
      for (const target of imported(module)) {
        const [from, to] = [roomOf(module), roomOf(target)];
        if (to === "style") continue;
        const isNeighbour = from === to && (from !== "pages" || module.split("/")[1] === target.split("/")[1]);
        if (!isNeighbour && heightOf(to) >= heightOf(from)) upwards.push(`${module} → ${target}`);
      }
    }
    expect(upwards).toEqual([]);
  });

  it("has no module that is longer than one sitting", () => {
    const long = modules.filter((module) => readFileSync(join(SRC, module), "utf8").split("\n").length > LINES_MAX);
    expect(long.map((module) => relative(SRC, join(SRC, module)))).toEqual([]);
  });
});
