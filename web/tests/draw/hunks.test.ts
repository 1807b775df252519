/** Diffs as git and others write them, and text that only pretends to be one. */
import { describe, expect, test } from "vitest";
import { type FileDiff, parseDiff, pathOf } from "../../src/draw/hunks";

function only(text: string): FileDiff {
  const files = parseDiff(text);
  expect(files).toHaveLength(1);
  const [file] = files;
  if (file === undefined) throw new Error("no file");
  return file;
}

function drawn(file: FileDiff): string[] {
  return file.hunks.flatMap(({ lines }) =>
    lines.map(({ sign, text, old, new: fresh }) => `${old ?? ""}|${fresh ?? ""}|${sign}${text}`),
  );
}

const CHANGED = `diff --git a/src/a.py b/src/a.py
index 1111111..2222222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@ def main():
 one
-two
+zwei
+drei
 four
`;

describe("a file that changes", () => {
  test("has its path, its lines with both numbers, and its sums", () => {
    const file = only(CHANGED);
    expect(file).toMatchObject({
      change: "changed",
      oldPath: "src/a.py",
      newPath: "src/a.py",
      additions: 2,
      deletions: 1,
    });
    expect(file.hunks[0]?.section).toBe("def main():");
    expect(drawn(file)).toEqual(["1|1| one", "2||-two", "|2|+zwei", "|3|+drei", "3|4| four"]);
  });

  test("pairs a line taken out with the line put in for it", () => {
    const [, out, put, more] = only(CHANGED).hunks[0]?.lines ?? [];
    expect(out?.twin).toBe(put);
    expect(put?.twin).toBe(out);
    expect(more?.twin).toBeNull();
  });

  test("may have lines that look like headers, because lines in a hunk are counted", () => {
    const file = only(`--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/z\n @@ -1 +1 @@\n`);
    expect(pathOf(file)).toBe("x");
    expect(drawn(file)).toEqual(["1||--- a/y", "|1|+++ b/z", "2|2| @@ -1 +1 @@"]);
  });

  test("says on which line no line feed follows", () => {
    const file = only(
      `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n`,
    );
    expect(file.hunks[0]?.lines.map(({ bare }) => bare)).toEqual([true, true]);
  });

  test("keeps an empty context line whose space somebody has trimmed", () => {
    expect(drawn(only("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"))).toEqual([
      "1|1| a",
      "2|2| ",
      "3||-b",
      "|3|+c",
    ]);
  });

  test("keeps carriage returns, so that a change of line ends can be seen", () => {
    expect(drawn(only("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+a\r\n"))).toEqual(["1||-a", "|1|+a\r"]);
  });
});

describe("a file as a whole", () => {
  test("can be added", () => {
    const file = only(
      "diff --git a/n b/n\nnew file mode 100755\nindex 0000000..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
    );
    expect(file).toMatchObject({ change: "added", oldPath: null, newPath: "n", newMode: "100755" });
  });

  test("can be added empty, without a line", () => {
    expect(only("diff --git a/n b/n\nnew file mode 100644\nindex 0000000..e69de29\n")).toMatchObject({
      change: "added",
      newPath: "n",
    });
  });

  test("can be deleted", () => {
    const file = only("diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
    expect(file).toMatchObject({ change: "deleted", oldPath: "n", newPath: null, oldMode: "100644" });
  });

  test("can be renamed, also with a space in its name", () => {
    const file = only(
      "diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n",
    );
    expect(file).toMatchObject({ change: "renamed", oldPath: "old name", newPath: "new name", hunks: [] });
  });

  test("can be copied", () => {
    const file = only("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n");
    expect(file).toMatchObject({ change: "copied", oldPath: "x", newPath: "y" });
  });

  test("can change its mode alone", () => {
    const file = only("diff --git a/my file b/my file\nold mode 100644\nnew mode 100755\n");
    expect(file).toMatchObject({ change: "changed", newPath: "my file", oldMode: "100644", newMode: "100755" });
  });

  test("can be binary, whose lines are not taken for anything else", () => {
    const file = only(
      "diff --git a/p b/p\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 0\nHcmV\n\n",
    );
    expect(file).toMatchObject({ binary: true, hunks: [], newPath: "p" });
    expect(only("diff --git a/p b/p\nBinary files a/p and b/p differ\n").binary).toBe(true);
  });

  test("may have a name that git quotes", () => {
    const file = only(
      'diff --git "a/\\303\\244 \\"b\\".txt" "b/\\303\\244 \\"b\\".txt"\n--- "a/\\303\\244 \\"b\\".txt"\n+++ "b/\\303\\244 \\"b\\".txt"\n@@ -1 +1 @@\n-a\n+b\n',
    );
    expect(file.newPath).toBe('ä "b".txt');
  });

  test("may come from a plain diff, with dates behind the names", () => {
    const file = only("--- x.c\t2026-01-01 00:00:00\n+++ x.c\t2026-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n");
    expect(file.newPath).toBe("x.c");
  });
});

describe("several files", () => {
  test("are told apart, with git's line before them and without", () => {
    expect(parseDiff(CHANGED + CHANGED.replaceAll("a.py", "b.py")).map(pathOf)).toEqual(["src/a.py", "src/b.py"]);
    const bare = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-a\n+b\n`;
    expect(parseDiff(bare("x") + bare("y")).map(pathOf)).toEqual(["x", "y"]);
  });
});

describe("text that is no diff", () => {
  test("gives nothing", () => {
    expect(parseDiff("")).toEqual([]);
    expect(parseDiff("hello\n@@ -1 +1 @@\n-a\n")).toEqual([]);
  });

  test("never throws, wherever a diff is cut and whatever is put in", () => {
    const whole = `${CHANGED}diff --git "a/\\30" b/x\nrename to \n@@ -99999999999,5 +1,2 @@\n`;
    for (let end = 0; end <= whole.length; end += 1) {
      expect(() => parseDiff(whole.slice(0, end))).not.toThrow();
      expect(() => parseDiff(`${whole.slice(0, end)}\u0000\\"@@${whole.slice(end)}`)).not.toThrow();
    }
  });

  test("is read in one go, however long it is", () => {
    const lines = "+x\n".repeat(200_000);
    const file = only(`--- a/x\n+++ b/x\n@@ -0,0 +1,200000 @@\n${lines}`);
    expect(file.additions).toBe(200_000);
  });
});
