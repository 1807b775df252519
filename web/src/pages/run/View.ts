/** How the reader looks at the open run: what is listed, what is marked, and where to go next. */
import { batch, signal } from "@preact/signals";
import type { Block } from "../../fold/blocks";
import type { RunFold } from "../../fold/fold";
import type { OpenRun } from "./OpenRun";
import { Replay } from "./Replay";
import { Search } from "./Search";
import { type Filter, isListed, nextPlace } from "./shown";

/** A block to bring into view; a new object each time, so that asking twice works. */
export interface Wanted {
  readonly block: number;
}

/** What one can jump to. */
export type Stop = "error" | "approval" | "edit" | "hit";

const NAMES: Readonly<Record<Stop, string>> = { error: "Error", approval: "Approval", edit: "Edit", hit: "Match" };
const THINKING = "runwire.thinking";

export class View {
  readonly replay: Replay;
  readonly search: Search;
  readonly filter = signal<Filter>("all");
  readonly thinking = signal(localStorage.getItem(THINKING) === "shown");
  /** The block that the reader stands on. */
  readonly selected = signal<number | null>(null);
  /** The event that a link led to. */
  readonly marked = signal<number | null>(null);
  /** The event whose envelope is shown. */
  readonly raw = signal<number | null>(null);
  readonly wanted = signal<Wanted | null>(null);
  /** Where the last jump led, in words. */
  readonly said = signal("");

  constructor(readonly open: OpenRun) {
    this.replay = new Replay(open);
    this.search = new Search(open);
    open.onWhole = (end) => {
      // What the reader stands on is another block now, or the same at another place.
      const stood = end.fold.blocks[this.selected.peek() ?? -1];
      if (stood !== undefined) this.selected.value = open.blockOf(stood.sequence);
      this.wanted.value = null;
      this.search.lookAnew();
    };
  }

  /** The run as far as it is looked at. */
  fold(): RunFold {
    return this.replay.fold();
  }

  /** Show the stored event of this sequence. Always the same function, so that no card is drawn anew for it. */
  readonly onRaw = (sequence: number): void => {
    this.raw.value = sequence;
  };

  /** Show the stored event of what the reader stands on: the one that a link led to, or else the block's first. */
  showRaw(): void {
    const block = this.fold().blocks[this.selected.peek() ?? -1];
    if (block === undefined) return;
    const marked = this.marked.peek();
    this.raw.value = marked !== null && this.open.blockOf(marked) === block.index ? marked : block.sequence;
  }

  toggleThinking(): void {
    this.thinking.value = !this.thinking.peek();
    localStorage.setItem(THINKING, this.thinking.peek() ? "shown" : "hidden");
  }

  /** Stand on a block and bring it into view; what hides it is taken away. */
  show(index: number): void {
    const { blocks, jumps } = this.fold();
    const listed = (block: Block) => isListed(block, jumps.errors, this.filter.value, this.thinking.value);
    batch(() => {
      const wanted = blocks[index];
      if (wanted?.kind === "thinking") this.thinking.value = true;
      if (wanted !== undefined && !listed(wanted)) this.filter.value = "all";
      // One that is never listed is told by one that came after it.
      const block = blocks.slice(index).find(listed);
      if (index < 0 || block === undefined) return;
      this.selected.value = block.index;
      this.wanted.value = { block: block.index };
    });
  }

  /** Bring an event into view and mark it. */
  mark(sequence: number): void {
    this.marked.value = sequence;
    this.show(this.open.blockOf(sequence));
  }

  /** Go to the next or previous stop of a kind. */
  jump(stop: Stop, step: 1 | -1): void {
    const stops = this.#stops(stop);
    const place = nextPlace(stops, this.selected.peek(), step);
    const block = stops[place];
    if (block === undefined) {
      this.said.value = `There is no ${NAMES[stop].toLowerCase()}.`;
      return;
    }
    this.said.value = `${NAMES[stop]} ${place + 1} of ${stops.length}`;
    this.show(block);
  }

  #stops(stop: Stop): readonly number[] {
    const { blocks, jumps } = this.fold();
    if (stop === "error") return jumps.errors;
    if (stop === "approval") return jumps.approvals;
    if (stop === "edit") return jumps.edits;
    const hits = this.search.hits.peek();
    return this.replay.upTo.peek() === null ? hits : hits.filter((index) => index < blocks.length);
  }
}
