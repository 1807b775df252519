/** One event as it is stored, to the byte. */
import { useState } from "preact/hooks";
import { Copy, copy } from "../../parts/Copy";
import { Dialog } from "../../parts/Dialog";
import { to } from "../../parts/route";
import { plain, turns } from "../../text/harmless";
import { moment } from "../../text/words";
import type { Told } from "../../wire/events";
import type { OpenRun } from "./OpenRun";
import type { View } from "./View";

export function RawEvent({ open, view }: { open: OpenRun; view: View }) {
  const sequence = view.raw.value;
  if (sequence === null) return null;
  const told = open.toldAt(sequence);
  const close = () => {
    view.raw.value = null;
  };
  return (
    <Dialog key="raw" wide title={`Event ${sequence}`} onClose={close}>
      {told === null ? (
        <p>This event is no longer stored.</p>
      ) : (
        <Envelope told={told} open={open} onMove={(next) => (view.raw.value = next)} />
      )}
    </Dialog>
  );
}

function Envelope({ told, open, onMove }: { told: Told; open: OpenRun; onMove: (sequence: number) => void }) {
  const [spread, setSpread] = useState(false);
  const { event, line } = told;
  const place = open.placeOf(event.sequence);
  const before = open.told[place - 1];
  const after = open.told[place + 1];
  return (
    <div class="run-raw">
      <p class="run-raw-about">
        <strong>{plain(event.type)}</strong> <time dateTime={event.occurred_at}>{moment(event.occurred_at)}</time>
      </p>
      <div class="run-raw-doing">
        <button type="button" disabled={before === undefined} onClick={() => before && onMove(before.event.sequence)}>
          Previous
        </button>
        <button type="button" disabled={after === undefined} onClick={() => after && onMove(after.event.sequence)}>
          Next
        </button>
        <Copy text={line} what="the envelope">
          Copy
        </Copy>
        <button type="button" onClick={() => copy(linkTo(open.runId, event.sequence), "the link to this event")}>
          Copy link
        </button>
        <label>
          <input type="checkbox" checked={spread} onChange={(change) => setSpread(change.currentTarget.checked)} />{" "}
          Spread out
        </label>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="run-raw-text" tabIndex={0}>
        <Exactly text={spread ? JSON.stringify(event, null, 2) : line} />
      </pre>
      <p class="run-note">
        {spread ? "Spread out for reading." : "Exactly as stored."} {new Blob([line]).size} bytes.
      </p>
    </div>
  );
}

/** Every character, but what would turn the others round turns nothing beyond itself. */
function Exactly({ text }: { text: string }) {
  return (
    <>
      {turns(text).map((piece, place) =>
        place % 2 === 0 ? (
          piece
        ) : (
          <bdi key={place} class="run-turning" data-shown={plain(piece)}>
            {piece}
          </bdi>
        ),
      )}
    </>
  );
}

/** The address that opens a run at an event. */
export function linkTo(runId: string, sequence: number): string {
  return new URL(to(`runs/${encodeURIComponent(runId)}`, { at: sequence }), location.href).href;
}
