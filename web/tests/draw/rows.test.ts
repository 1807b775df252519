/** What stands beside what, and which words differ. */
import { describe, expect, test } from "vitest";
import { type FileDiff, type Line, parseDiff } from "../../src/draw/hunks";
import { marksOf } from "../../src/draw/marks";
import { rowsOf } from "../../src/draw/rows";

function fileOf(...lines: readonly string[]): FileDiff {
  const count = (sign: string) => lines.filter((line) => line[0] === sign || line[0] === " ").length;
  const [file] = parseDiff(`--- a/x\n+++ b/x\n@@ -1,${count("-")} +1,${count("+")} @@\n${lines.join("\n")}\n`);
  if (file === undefined) throw new Error("no file");
  return file;
}

function sides(file: FileDiff): string[] {
  return rowsOf(file, true, new Set()).flatMap((row) =>
    row.kind === "pair" ? [`${row.left?.text ?? "-"} | ${row.right?.text ?? "-"}`] : [],
  );
}

function marked(file: FileDiff, sign: Line["sign"]): string {
  const line = file.hunks[0]?.lines.find((one) => one.sign === sign);
  if (line === undefined) throw new Error("no line");
  return marksOf(line)
    .map(({ text, differs }) => (differs ? `[${text}]` : text))
    .join("");
}

describe("two columns", () => {
  test("put what was beside what is, and nothing beside what has no twin", () => {
    expect(sides(fileOf(" a", "-b", "-c", "+B", " d", "+e"))).toEqual(["a | a", "b | B", "c | -", "d | d", "- | e"]);
  });

  test("show every line of the diff once", () => {
    const file = fileOf("-1", "+2", "+3", " 4", "-5", "-6", "+7", "+8", "+9");
    const texts = rowsOf(file, true, new Set()).flatMap((row) => (row.kind === "pair" ? [row.left, row.right] : []));
    expect(new Set(texts.filter((line) => line !== null))).toEqual(new Set(file.hunks[0]?.lines));
  });
});

describe("a hunk that has been read", () => {
  test("shows its head only", () => {
    const file = fileOf(" a", "-b", "+c");
    expect(rowsOf(file, false, new Set([0])).map(({ kind }) => kind)).toEqual(["hunk"]);
    expect(rowsOf(file, false, new Set())).toHaveLength(4);
  });
});

describe("the words of a changed line", () => {
  test("are marked on both sides where they differ", () => {
    const file = fileOf("-    for i in range(10):", "+    for _ in range(3):");
    expect(marked(file, "-")).toBe("    for [i] in range([10]):");
    expect(marked(file, "+")).toBe("    for [_] in range([3]):");
  });

  test("are not marked where nearly everything differs", () => {
    expect(marked(fileOf("-alpha beta", "+gamma delta"), "-")).toBe("alpha beta");
  });

  test("are not compared in lines too long to be read", () => {
    const long = "word ".repeat(1_000);
    expect(marked(fileOf(`-${long}a`, `+${long}b`), "+")).toBe(`${long}b`);
  });
});
