/** What the agent says and thinks: text that comes in pieces and is whole when the agent says so. */
import type { EventDataByType } from "@protocol";
import type { Block, Prose } from "./blocks";
import type { Timeline } from "./timeline";

type Kind = Prose["kind"];
type Piece = EventDataByType["assistant.text_delta"];
type Whole = EventDataByType["assistant.text_complete"];

export class Sayings {
  readonly #timeline: Timeline;
  readonly #open: Map<string, number>;
  #toldTurn: number;

  constructor(timeline: Timeline, of?: Sayings) {
    this.#timeline = timeline;
    this.#open = new Map(of === undefined ? [] : of.#open);
    this.#toldTurn = of === undefined ? -1 : of.#toldTurn;
  }

  said(kind: Kind, { turn_index, block_index, delta }: Piece): Block | null {
    const key = keyOf(kind, turn_index, block_index);
    const index = this.#open.get(key);
    if (index === undefined && delta === "") return null;
    this.#toldTurn = turn_index;
    if (index === undefined) {
      const made = this.#make(kind, turn_index, delta, true);
      this.#open.set(key, made.index);
      return made;
    }
    const block = this.#prose(index);
    // A string that grows at its end is put together only when somebody reads it.
    if (block !== null) block.text += delta;
    return block;
  }

  saidAll(kind: Kind, { turn_index, block_index, text }: Whole): Block | null {
    const key = keyOf(kind, turn_index, block_index);
    const index = this.#open.get(key);
    if (index === undefined && text === "") return null;
    this.#toldTurn = turn_index;
    if (index === undefined) return this.#make(kind, turn_index, text, false);
    this.#open.delete(key);
    const block = this.#prose(index);
    if (block === null) return null;
    block.text = text;
    this.#timeline.close(block);
    return block;
  }

  /** An agent that streams has said it already; of one that does not, this is all there is. */
  answered({ turn_index, summary }: EventDataByType["assistant.final_answer"]): Block | null {
    if (turn_index === this.#toldTurn || summary === "") return null;
    return this.#make("prose", turn_index, summary, false);
  }

  /** What was being said is not said to its end. */
  breakOff(): void {
    for (const index of this.#open.values()) {
      const block = this.#prose(index);
      if (block === null) continue;
      block.broken = true;
      this.#timeline.close(block);
    }
    this.#open.clear();
  }

  #make(kind: Kind, turn: number, text: string, open: boolean): Prose {
    return this.#timeline.make<Prose>(open, (common) => ({ kind, turn, text, broken: false, ...common }));
  }

  #prose(index: number): Prose | null {
    const block = this.#timeline.change(index);
    return block?.kind === "prose" || block?.kind === "thinking" ? block : null;
  }
}

function keyOf(kind: Kind, turn: number, block: number): string {
  return `${kind}:${turn}:${block}`;
}
