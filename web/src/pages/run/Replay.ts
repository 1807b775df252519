/** The run as it was after any of its events: by hand, step by step, or played. */
import { batch, computed, signal } from "@preact/signals";
import type { RunFold } from "../../fold/fold";
import { Snapshots } from "../../fold/snapshots";
import { nowMs } from "../../parts/clock";
import type { OpenRun } from "./OpenRun";

export const SPEEDS = [1, 4, 16, 64] as const;
// Nobody wants to watch an agent wait: a longer pause is played as one of this length.
const PAUSE_MS = 1_000;

export class Replay {
  /** The last event that counts; nothing: all of them, as they come. */
  readonly upTo = signal<number | null>(null);
  readonly isPlaying = signal(false);
  readonly speed = signal<number>(4);
  /** The moment that is looked at: of the last event that counts, or now. */
  readonly clock = computed(() => (this.upTo.value === null ? nowMs.value : Date.parse(this.fold().lastAt)));
  readonly #past = new Snapshots();
  #fold: RunFold | null = null;
  #frame = 0;

  constructor(readonly open: OpenRun) {}

  /** The run as far as it is looked at. */
  fold(): RunFold {
    return this.upTo.value === null || this.#fold === null ? this.open.fold : this.#fold;
  }

  /** Show the run up to an event, once it has been read from its start. */
  seek(sequence: number): void {
    const { open } = this;
    const wanted = Math.max(open.first, Math.min(sequence, open.head));
    if (!open.isFromStart.value || open.told.length === 0 || wanted === this.upTo.value) return;
    this.#fold = this.#past.at(open.told, wanted);
    this.upTo.value = wanted;
  }

  /** Go some events on or back. */
  step(by: number): void {
    this.pause();
    this.seek((this.upTo.value ?? this.open.head) + by);
  }

  /** Show everything again, as it comes. */
  live(): void {
    this.pause();
    batch(() => {
      this.#fold = null;
      this.upTo.value = null;
    });
  }

  /** Play from here, or from the beginning when there is nothing more to play; or pause. */
  toggle(): void {
    if (this.isPlaying.value) {
      this.pause();
      return;
    }
    const { upTo, open } = this;
    if (upTo.value === null || upTo.value >= open.head) this.seek(open.first);
    this.isPlaying.value = true;
    this.#play(performance.now(), 0);
  }

  pause(): void {
    cancelAnimationFrame(this.#frame);
    this.isPlaying.value = false;
  }

  #play(before: number, owed: number): void {
    this.#frame = requestAnimationFrame((now) => {
      const { open } = this;
      let left = owed + (now - before) * this.speed.value;
      let place = open.placeOf(this.upTo.value ?? open.head);
      for (;;) {
        const pause = pauseAfter(open, place);
        if (pause === null || pause > left) break;
        left -= pause;
        place += 1;
      }
      const reached = open.told[place];
      if (reached !== undefined) this.seek(reached.event.sequence);
      if (place >= open.told.length - 1) this.live();
      else this.#play(now, left);
    });
  }
}

/** How long the event after this one waits, as it is played; nothing after the last. */
function pauseAfter(open: OpenRun, place: number): number | null {
  const here = open.told[place];
  const next = open.told[place + 1];
  if (here === undefined || next === undefined) return null;
  const ms = Date.parse(next.event.occurred_at) - Date.parse(here.event.occurred_at);
  return Number.isNaN(ms) ? 0 : Math.max(0, Math.min(ms, PAUSE_MS));
}
