/**
 * Blocks in the order in which they began. A fork shares them and copies one only when it is about to change, so that
 * keeping many moments of a long run costs little.
 */
import type { Block, Common } from "./blocks";
import { copied } from "./output";

/** Where to jump to: indexes of blocks, ascending. */
export interface Jumps {
  readonly errors: number[];
  readonly approvals: number[];
  readonly edits: number[];
}

export class Timeline {
  readonly blocks: Block[];
  readonly jumps: Jumps;
  /** The event that is being taken in, and when it happened. */
  head: number;
  at: string;
  // What may go on and is over when the run is.
  readonly #open: Set<number>;
  // Blocks below this index belong to a fork as well, but for those that have been copied since.
  #shared: number;
  #copied = new Set<number>();

  constructor(of?: Timeline) {
    this.blocks = of?.blocks.slice() ?? [];
    this.jumps = {
      errors: of?.jumps.errors.slice() ?? [],
      approvals: of?.jumps.approvals.slice() ?? [],
      edits: of?.jumps.edits.slice() ?? [],
    };
    this.head = of?.head ?? -1;
    this.at = of?.at ?? "";
    this.#open = new Set(of === undefined ? [] : of.#open);
    this.#shared = this.blocks.length;
  }

  /** An independent twin. */
  fork(): Timeline {
    this.#shared = this.blocks.length;
    this.#copied = new Set();
    return new Timeline(this);
  }

  /** Put a new block to the end. Its builder spreads what all blocks have last: spread first, it is forty times slower. */
  make<B extends Block>(open: boolean, build: (common: Common) => B): B {
    const { head, at } = this;
    const made = build({ index: this.blocks.length, sequence: head, until: head, at, revision: 0, open });
    this.blocks.push(made);
    if (made.open && made.kind !== "edit" && made.kind !== "approval") this.#open.add(made.index);
    if (made.kind === "approval") this.jumps.approvals.push(made.index);
    if (made.kind === "edit") this.jumps.edits.push(made.index);
    return made;
  }

  /** The block at an index, to be changed now. */
  change(index: number | undefined): Block | undefined {
    if (index === undefined) return undefined;
    let block = this.blocks[index];
    if (block === undefined) return undefined;
    if (index < this.#shared && !this.#copied.has(index)) {
      block = block.kind === "tool" ? { ...block, output: copied(block.output) } : { ...block };
      this.blocks[index] = block;
      this.#copied.add(index);
    }
    block.revision += 1;
    block.until = this.head;
    return block;
  }

  /** Nothing more will come of the block. */
  close(block: Block): void {
    block.open = false;
    this.#open.delete(block.index);
  }

  /** Nothing more will come of anything but edits and approvals, which a person may settle later. */
  closeAll(): void {
    for (const index of this.#open) {
      const block = this.change(index);
      if (block !== undefined) block.open = false;
    }
    this.#open.clear();
  }

  /** Somebody who looks for what went wrong wants to see this block. */
  wrong(block: Block): void {
    const { errors } = this.jumps;
    const at = firstFrom(errors, block.index);
    if (errors[at] !== block.index) errors.splice(at, 0, block.index);
  }
}

/** Where the first of the ascending numbers stands that is not below the value. */
function firstFrom(numbers: readonly number[], value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? value) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
