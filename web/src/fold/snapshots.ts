/** A run as it was at any event. Some moments are kept, so that going to another one never means beginning anew. */
import type { Told } from "../wire/events";
import { RunFold } from "./fold";

const STEP = 4_000;

interface Moment {
  /** How many lines have been taken in. */
  readonly taken: number;
  readonly fold: RunFold;
}

/** The moments of one run. Its lines may grow from one question to the next, and nothing else. */
export class Snapshots {
  readonly #kept: Moment[] = [{ taken: 0, fold: new RunFold() }];
  // Who plays a run goes on from where it was a moment ago.
  #last: Moment | null = null;

  /** A moment is kept whenever `step` more events have been taken in. */
  constructor(readonly step = STEP) {}

  /** The run after the event of that sequence, and before the next. It belongs to the caller, who may take on with it. */
  at(lines: readonly Told[], sequence: number): RunFold {
    const wanted = upTo(lines, sequence);
    const start = this.#nearest(wanted);
    const fold = start.fold.fork();
    for (let taken = start.taken; taken < wanted; ) {
      const line = lines[taken];
      if (line !== undefined) fold.take(line.event);
      taken += 1;
      if (taken === this.#kept.length * this.step) this.#kept.push({ taken, fold: fold.fork() });
    }
    this.#last = { taken: wanted, fold: fold.fork() };
    return fold;
  }

  #nearest(wanted: number): Moment {
    const kept = this.#kept.findLast(({ taken }) => taken <= wanted) ?? { taken: 0, fold: new RunFold() };
    const last = this.#last;
    return last !== null && last.taken <= wanted && last.taken > kept.taken ? last : kept;
  }
}

/** How many lines there are up to that sequence, which may itself be missing. */
function upTo(lines: readonly Told[], sequence: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.event.sequence ?? 0) <= sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
