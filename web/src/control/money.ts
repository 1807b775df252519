/** Dollars as people type them, as micro-dollars. Pure. */

/** `1.50` or `$1.50` is 1,500,000; nothing typed is nothing; what is no amount is NaN. */
export function micros(typed: string): number | null {
  const text = typed.trim().replace(/^\$\s*/, "");
  if (text === "") return null;
  if (!/^\d{1,9}(\.\d{0,6})?$|^\.\d{1,6}$/.test(text)) return Number.NaN;
  return Math.round(Number(text) * 1_000_000);
}
