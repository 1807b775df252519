/** What is saved as a table is read back as it was, and a spreadsheet carries nothing of it out. */
import { expect, test } from "vitest";
import { csv } from "../../src/draw/table";

test("rows stand under their heading, numbers as they are, and what is missing is empty", () => {
  expect(csv(["a", "b", "c"], [["x", 12, null]])).toBe("a,b,c\r\nx,12,\r\n");
});

test("commas, quotes and line ends stay inside their cell", () => {
  expect(csv(["a"], [['say "hi",\nthen go']])).toBe('a\r\n"say ""hi"",\nthen go"\r\n');
});

test.each(["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1"])("the text “%s” cannot become a formula", (text) => {
  expect(csv(["a"], [[text]])).toContain(`'${text}`);
});

test("a number may be negative", () => {
  expect(csv(["a"], [[-3]])).toBe("a\r\n-3\r\n");
});
