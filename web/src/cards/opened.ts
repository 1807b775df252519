/** Which cards a reader has opened or closed. It outlives the card: a long list takes cards away and brings them back. */
import { signal } from "@preact/signals";
import type { Block } from "../fold/blocks";

const chosen = signal<ReadonlyMap<string, boolean>>(new Map());
const KEPT = 2_000;

/** Whether the card of a block is open: as the reader left it, else as its kind has it. */
export function isOpen(runId: string, block: Block, otherwise: boolean): boolean {
  return chosen.value.get(nameOf(runId, block)) ?? otherwise;
}

/** Open or close the card of a block. */
export function setOpen(runId: string, block: Block, open: boolean): void {
  const next = new Map(chosen.value);
  next.delete(nameOf(runId, block));
  next.set(nameOf(runId, block), open);
  const oldest = next.size > KEPT ? next.keys().next().value : undefined;
  if (oldest !== undefined) next.delete(oldest);
  chosen.value = next;
}

function nameOf(runId: string, block: Block): string {
  return `${runId} ${block.sequence} ${block.kind}`;
}
