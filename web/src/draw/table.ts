/** Tables as files: comma-separated values that a spreadsheet opens without surprises. Pure. */

type Cell = string | number | null | undefined;

/** Rows under a heading, as RFC 4180 has it. */
export function csv(heading: readonly string[], rows: Iterable<readonly Cell[]>): string {
  const lines = [heading.map(quoted).join(",")];
  for (const row of rows) lines.push(row.map(quoted).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function quoted(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number") return String(cell);
  // A spreadsheet would carry out a text that begins so. What an agent wrote must stay a text.
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
