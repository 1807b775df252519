/** Moving through a list by keys: the focus goes from one thing of a kind to the next. */

/** Focus the thing that is `by` further than the focused one; without one, the first or, backwards, the last. */
export function stepTo(within: HTMLElement | null, kind: string, by: 1 | -1): void {
  const things = [...(within?.querySelectorAll<HTMLElement>(kind) ?? [])];
  const focused = document.activeElement;
  const here = focused instanceof HTMLElement ? things.indexOf(focused) : -1;
  const next = here === -1 ? (by === 1 ? 0 : things.length - 1) : here + by;
  const found = things[Math.min(Math.max(next, 0), things.length - 1)];
  found?.focus();
  found?.scrollIntoView({ block: "nearest" });
}
