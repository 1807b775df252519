/** Paths as git quotes them: in double quotes, with escapes and octal bytes, when they hold anything unusual. */

const LETTERS: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** The path itself; one without quotes is as it stands. */
export function spelledOut(path: string): string {
  if (path.length < 2 || !path.startsWith('"') || !path.endsWith('"')) return path;
  const bytes: number[] = [];
  for (const [, octal, letter, plain] of path.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gsu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 255);
    else if (letter !== undefined) bytes.push(...(Object.hasOwn(LETTERS, letter) ? [LETTERS[letter] ?? 63] : [63]));
    else if (plain !== undefined) bytes.push(...new TextEncoder().encode(plain));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
