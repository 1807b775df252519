/** Events in a row as they were stored, what they come to, and which block each of them belongs to. */
import type { Told } from "../wire/events";
import { RunFold } from "./fold";

export class Stretch {
  readonly told: Told[] = [];
  readonly fold = new RunFold();
  // The index of the block that each event made or changed.
  readonly #places: number[] = [];

  /** The sequence of the newest event; -1 if there is none. */
  get head(): number {
    return this.told.at(-1)?.event.sequence ?? -1;
  }

  /** Take in the events that follow. */
  take(batch: readonly Told[]): void {
    for (const told of batch) {
      this.told.push(told);
      // An event that changes nothing one sees belongs to what was going on.
      this.#places.push(this.fold.take(told.event)?.index ?? this.#places.at(-1) ?? -1);
    }
  }

  /** Where an event stands among these: it, or else the last one before it; -1 if there is none. */
  placeOf(sequence: number): number {
    // Sequences rise; what was pruned has left holes.
    let low = 0;
    let high = this.told.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.told[middle]?.event.sequence ?? 0) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The index of the block that an event belongs to; -1 if there is none. */
  blockOf(sequence: number): number {
    return this.#places[this.placeOf(sequence)] ?? -1;
  }
}
