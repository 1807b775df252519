/**
 * The run that is open: its events as they were stored, what they come to, and which block each event belongs to.
 * It reads the store first and then listens; what shows it is told that it has grown, and reads the rest from here.
 */
import { signal } from "@preact/signals";
import { RunFold } from "../../fold/fold";
import { get } from "../../wire/api";
import type { Told } from "../../wire/events";
import { followRun } from "../../wire/log";
import type { Run } from "../../wire/resources/runs";

// While a long log is read, it is shown as it grows, but not more often than this.
const SHOWN_EVERY_MS = 1_000;
// What the gateway says about the run is asked for again when one of these happens, and then at most this often.
const TELLING = /^(run|approval|turn|gap)\./;
const ASKED_EVERY_MS = 500;

export class OpenRun {
  readonly told: Told[] = [];
  readonly fold = new RunFold();
  /** Grows when events came. */
  readonly grown = signal(0);
  /** Whether the stored events are still being read for the first time. */
  readonly isReading = signal(true);
  readonly failure = signal<unknown>(null);
  readonly run = signal<Run | null>(null);
  // The index of the block that each event made or changed.
  readonly #places: number[] = [];
  #shownAt = 0;
  #asking: ReturnType<typeof setTimeout> | undefined;
  #askedAt = 0;

  constructor(readonly runId: string) {}

  /** Begin to read and to listen. Returns how to stop. */
  follow(): () => void {
    this.#ask();
    const stop = followRun(this.runId, {
      events: (batch) => this.#take(batch),
      caughtUp: () => {
        this.isReading.value = false;
        this.failure.value = null;
        this.#show();
      },
      failed: (failure) => {
        this.failure.value = failure;
      },
    });
    return () => {
      stop();
      clearTimeout(this.#asking);
    };
  }

  /** The sequence of the first event that is kept. */
  get first(): number {
    return this.told[0]?.event.sequence ?? 0;
  }

  /** The sequence of the newest event. */
  get head(): number {
    return this.told.at(-1)?.event.sequence ?? -1;
  }

  /** Where an event stands among those that are kept: it, or else the last one before it; -1 if there is none. */
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

  /** The event, if it is kept. */
  toldAt(sequence: number): Told | null {
    const found = this.told[this.placeOf(sequence)];
    return found?.event.sequence === sequence ? found : null;
  }

  /** The index of the block that an event belongs to; -1 if there is none. */
  blockOf(sequence: number): number {
    return this.#places[this.placeOf(sequence)] ?? -1;
  }

  #take(batch: readonly Told[]): void {
    let tells = false;
    for (const told of batch) {
      this.told.push(told);
      // An event that changes nothing one sees belongs to what was going on.
      this.#places.push(this.fold.take(told.event)?.index ?? this.#places.at(-1) ?? -1);
      tells ||= TELLING.test(told.event.type);
    }
    if (tells && !this.isReading.value) this.#ask();
    if (!this.isReading.value || performance.now() - this.#shownAt > SHOWN_EVERY_MS) this.#show();
  }

  #show(): void {
    this.#shownAt = performance.now();
    this.grown.value += 1;
  }

  #ask(): void {
    if (this.#asking !== undefined) return;
    const wait = Math.max(0, this.#askedAt + ASKED_EVERY_MS - performance.now());
    this.#asking = setTimeout(async () => {
      this.#asking = undefined;
      this.#askedAt = performance.now();
      try {
        this.run.value = await get<Run>(`runs/${encodeURIComponent(this.runId)}`);
      } catch (failure) {
        if (this.run.value === null) this.failure.value = failure;
      }
    }, wait);
  }
}
