/**
 * The run that is open: its events as they were stored, what they come to, and which block each event belongs to.
 * It reads the store first and then listens; what shows it is told that it has grown, and reads the rest from here.
 * Of a long run the end is read first, and held until everything is there: that is what most come for.
 */
import { batch, signal } from "@preact/signals";
import type { RunFold } from "../../fold/fold";
import { Stretch } from "../../fold/stretch";
import { get } from "../../wire/api";
import type { Told } from "../../wire/events";
import { followRun, readAfter } from "../../wire/log";
import type { Run } from "../../wire/resources/runs";

// A run is long when reading all of it would be waited for; so many of its last events are read first then.
const LONG = 5_000;
const END = 500;
// While a long log is read, it is shown as it grows, but not more often than this.
const SHOWN_EVERY_MS = 1_000;
// What the gateway says about the run is asked for again when one of these happens, and then at most this often.
const TELLING = /^(run|approval|turn|gap)\./;
const ASKED_EVERY_MS = 500;

export class OpenRun {
  /** Grows when events came. */
  readonly grown = signal(0);
  /** Whether the stored events are still being read for the first time. */
  readonly isReading = signal(true);
  /** Whether what is held begins where the run does. If not, it is the end, and the rest is being read. */
  readonly isFromStart = signal(true);
  readonly failure = signal<unknown>(null);
  readonly run = signal<Run | null>(null);
  /** Called when everything has taken the place of the end: other blocks stand at the same indexes now. */
  onWhole: (end: Stretch) => void = () => {};
  readonly #all = new Stretch();
  #held = this.#all;
  #shownAt = 0;
  #asking: ReturnType<typeof setTimeout> | undefined;
  #askedAt = 0;

  constructor(readonly runId: string) {}

  /** Begin to read and to listen. Returns how to stop. */
  follow(): () => void {
    const left = new AbortController();
    let stop = () => {};
    void this.#begin(left.signal).then(() => {
      if (!left.signal.aborted) stop = this.#follow();
    });
    return () => {
      left.abort();
      stop();
      clearTimeout(this.#asking);
    };
  }

  get told(): readonly Told[] {
    return this.#held.told;
  }

  get fold(): RunFold {
    return this.#held.fold;
  }

  /** How many events have been read from the beginning on. */
  get read(): number {
    return this.#all.told.length;
  }

  /** The sequence of the first event that is held. */
  get first(): number {
    return this.told[0]?.event.sequence ?? 0;
  }

  /** The sequence of the newest event. */
  get head(): number {
    return this.#held.head;
  }

  /** Whether all has been read that there is to know about an event. */
  reaches(sequence: number): boolean {
    return this.grown.value > 0 && sequence <= this.head && (this.isFromStart.value || sequence >= this.first);
  }

  /** Where an event stands among those that are held: it, or else the last one before it; -1 if there is none. */
  placeOf(sequence: number): number {
    return this.#held.placeOf(sequence);
  }

  /** The event, if it is held. */
  toldAt(sequence: number): Told | null {
    const found = this.told[this.placeOf(sequence)];
    return found?.event.sequence === sequence ? found : null;
  }

  /** The index of the block that an event belongs to; -1 if there is none. */
  blockOf(sequence: number): number {
    return this.#held.blockOf(sequence);
  }

  /** Learn what the run is and, if it is long, show its end. */
  async #begin(left: AbortSignal): Promise<void> {
    await this.#learn();
    const run = this.run.peek();
    if (run === null || run.head_sequence < LONG || left.aborted) return;
    const end = new Stretch();
    try {
      await readAfter(this.runId, run.head_sequence - END, (events) => end.take(events), left);
    } catch {
      // Whatever is wrong is told by who reads everything.
      return;
    }
    if (end.told.length === 0) return;
    end.fold.standing.learn({ turns: run.usage.turns, costMicrosUsd: run.cost_micros_usd });
    batch(() => {
      this.#held = end;
      this.isFromStart.value = false;
      this.#show();
    });
  }

  #follow(): () => void {
    return followRun(this.runId, {
      events: (events) => this.#take(events),
      caughtUp: () => batch(() => this.#caughtUp()),
      failed: (failure) => {
        this.failure.value = failure;
      },
    });
  }

  #caughtUp(): void {
    this.isReading.value = false;
    this.failure.value = null;
    // It may have gone on, and even ended, between what was learnt about it and what was read.
    if (this.#all.head > (this.run.peek()?.head_sequence ?? -1)) this.#ask();
    if (this.#held !== this.#all) {
      const end = this.#held;
      this.#held = this.#all;
      this.isFromStart.value = true;
      this.onWhole(end);
    }
    this.#show();
  }

  #take(events: readonly Told[]): void {
    this.#all.take(events);
    if (!this.isReading.value && events.some(({ event }) => TELLING.test(event.type))) this.#ask();
    if (!this.isReading.value || performance.now() - this.#shownAt > SHOWN_EVERY_MS) this.#show();
  }

  #show(): void {
    this.#shownAt = performance.now();
    this.grown.value += 1;
  }

  #ask(): void {
    if (this.#asking !== undefined) return;
    const wait = Math.max(0, this.#askedAt + ASKED_EVERY_MS - performance.now());
    this.#asking = setTimeout(() => {
      this.#asking = undefined;
      void this.#learn();
    }, wait);
  }

  async #learn(): Promise<void> {
    this.#askedAt = performance.now();
    try {
      const run = await get<Run>(`runs/${encodeURIComponent(this.runId)}`);
      // What was asked for earlier may come later.
      if (run.head_sequence >= (this.run.peek()?.head_sequence ?? -1)) this.run.value = run;
    } catch (failure) {
      if (this.run.value === null) this.failure.value = failure;
    }
  }
}
