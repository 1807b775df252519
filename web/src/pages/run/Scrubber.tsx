/** Takes the reader to any event of the run: what stands above is the run as it was then. It can play, too. */
import { moment } from "../../text/words";
import type { OpenRun } from "./OpenRun";
import { SPEEDS } from "./Replay";
import type { View } from "./View";

export function Scrubber({ open, view }: { open: OpenRun; view: View }) {
  // The head is what grows.
  void open.grown.value;
  const { replay } = view;
  const upTo = replay.upTo.value;
  const isLive = upTo === null;
  // What was before is not known yet.
  const disabled = !open.isFromStart.value;
  const { first, head } = open;
  const sequence = upTo ?? head;
  const at = open.told[open.placeOf(sequence)]?.event.occurred_at;
  if (head <= first) return null;
  const words = `Event ${sequence} of ${head}`;
  return (
    <section class={isLive ? "run-scrubber" : "run-scrubber past"} aria-label="Replay">
      <button type="button" disabled={disabled} onClick={() => replay.toggle()} title="Play or pause (p)">
        {replay.isPlaying.value ? "Pause" : "Play"}
      </button>
      <label class="run-speed">
        <span class="sr-only">Speed</span>
        <select
          value={String(replay.speed.value)}
          onChange={(change) => {
            replay.speed.value = Number(change.currentTarget.value);
          }}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={String(speed)}>
              {speed}×
            </option>
          ))}
        </select>
      </label>
      <input
        type="range"
        aria-label="Replay to event"
        disabled={disabled}
        aria-valuetext={words}
        min={first}
        max={head}
        value={sequence}
        onInput={(change) => replay.seek(Number(change.currentTarget.value))}
      />
      <output class="run-where" title={at === undefined ? "" : moment(at)}>
        {words}
      </output>
      <button type="button" disabled={isLive} onClick={() => replay.live()} title="Show everything, as it comes (l)">
        {open.fold.end === null ? "Live" : "End"}
      </button>
    </section>
  );
}
