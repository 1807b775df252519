/** Finds words in the run. What comes later is looked through when it comes. */
import { signal } from "@preact/signals";
import { find } from "../../fold/finding";
import type { OpenRun } from "./OpenRun";

export class Search {
  readonly words = signal("");
  /** The blocks in which the words are found, in order. */
  readonly hits = signal<readonly number[]>([]);
  #looked = 0;

  constructor(readonly open: OpenRun) {}

  /** Look for these words instead. */
  look(words: string): void {
    const wanted = words.trim();
    if (wanted === this.words.peek()) return;
    this.words.value = wanted;
    this.lookAnew();
  }

  /** Look through everything once more. */
  lookAnew(): void {
    this.hits.value = [];
    this.#looked = 0;
    this.lookOn();
  }

  /** Look through what came since. */
  lookOn(): void {
    const { open } = this;
    const text = this.words.peek();
    if (text === "" || this.#looked >= open.told.length) return;
    const found = find(open.told, { types: "", text }, this.#looked);
    this.#looked = open.told.length;
    if (found.length === 0) return;
    const blocks = new Set(this.hits.peek());
    for (const place of found) {
      const block = open.blockOf(open.told[place]?.event.sequence ?? -1);
      if (block >= 0) blocks.add(block);
    }
    if (blocks.size > this.hits.peek().length) this.hits.value = [...blocks].sort((one, other) => one - other);
  }
}
