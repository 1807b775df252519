/** Which blocks are listed, and finding one's way among them. Pure. */
import type { Block } from "../../fold/blocks";

export type Filter = "all" | "said" | "tools" | "edits" | "approvals" | "errors" | "other";

export const FILTERS: readonly { readonly name: Filter; readonly label: string }[] = [
  { name: "all", label: "Everything" },
  { name: "said", label: "What was said" },
  { name: "tools", label: "Tool calls" },
  { name: "edits", label: "Edits" },
  { name: "approvals", label: "Approvals" },
  { name: "errors", label: "Errors" },
  { name: "other", label: "Notes and unknown events" },
];

const KINDS: Readonly<Record<Exclude<Filter, "all" | "errors">, readonly Block["kind"][]>> = {
  said: ["prose", "thinking", "user", "media", "end"],
  tools: ["tool", "child"],
  edits: ["edit"],
  approvals: ["approval"],
  other: ["note", "opaque"],
};

/** A word as a filter; one that is none filters nothing. */
export function filterOf(word: string | null): Filter {
  return FILTERS.find(({ name }) => name === word)?.name ?? "all";
}

/** Whether a block is listed. */
export function isListed(block: Block, errors: readonly number[], filter: Filter, thinking: boolean): boolean {
  if (block.kind === "thinking" && !thinking) return false;
  // What a card beside it says better is not said twice.
  if (filter === "all") return !(block.kind === "tool" && block.told && block.state === "completed");
  if (filter === "errors") return errors[placeIn(errors, block.index)] === block.index;
  return KINDS[filter].includes(block.kind);
}

/** The indexes of the blocks to list, in order. */
export function listed(
  blocks: readonly Block[],
  errors: readonly number[],
  filter: Filter,
  thinking: boolean,
): readonly number[] {
  const found: number[] = [];
  for (const block of blocks) {
    if (isListed(block, errors, filter, thinking)) found.push(block.index);
  }
  return found;
}

/** Where the first number that is not below the wanted one stands in a rising list. */
export function placeIn(rising: readonly number[], wanted: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rising[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place of the next stop after (or before) where one is, going round; -1 if there is no stop. */
export function nextPlace(rising: readonly number[], from: number | null, step: 1 | -1): number {
  if (rising.length === 0) return -1;
  if (from === null) return step === 1 ? 0 : rising.length - 1;
  const place = step === 1 ? placeIn(rising, from + 1) : placeIn(rising, from) - 1;
  return (place + rising.length) % rising.length;
}

/** The row to go to from the selected one; from what is seen, if that one is out of sight. It stops at both ends. */
export function nextRow(
  shown: readonly number[],
  selected: number | null,
  seen: { readonly first: number; readonly last: number } | null,
  step: 1 | -1,
): number {
  const row = selected === null ? -1 : placeIn(shown, selected);
  if (seen !== null && (row < seen.first - 1 || row > seen.last + 1)) return step === 1 ? seen.first : seen.last;
  return Math.max(0, Math.min(row + step, shown.length - 1));
}
