/** Every event of the run, one a line, by type. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { typeFilter } from "../../fold/finding";
import { useKeys } from "../../parts/keys";
import { type ListHandle, VirtualList } from "../../parts/VirtualList";
import { plain } from "../../text/harmless";
import type { Told } from "../../wire/events";
import type { OpenRun } from "./OpenRun";
import { nextPlace, placeIn } from "./shown";
import type { View } from "./View";

// A table of which only a part is in the page cannot be made of the browser's own elements: its roles say what it is.
const TABLE = { role: "table", "aria-label": "Events" } as const;
const GROUP = { role: "rowgroup" } as const;
const HEAD = { role: "row", "aria-rowindex": 1 } as const;
const COLUMN = { role: "columnheader" } as const;
const CELL = { role: "cell" } as const;
const ROW_PX = 30;
const PREVIEW = 240;

export function EventTable({ open, view, types }: { open: OpenRun; view: View; types: string }) {
  const grown = open.grown.value;
  const list = useRef<ListHandle | null>(null);
  const marked = view.marked.value;
  const [standing, setStanding] = useState(marked);
  // The events grow in place, and say so.
  const places = useMemo(() => placesOf(open.told, types), [open, grown, types]);
  const told = (row: number) => open.told[places[row] ?? -1];
  const step = (by: 1 | -1) => {
    const row = nextPlace(places, standing === null ? null : open.placeOf(standing), by);
    const found = told(row);
    if (found === undefined) return;
    setStanding(found.event.sequence);
    list.current?.show(row);
  };
  useKeys(
    [
      { keys: "j", about: "Next event", group: "Events", act: () => step(1) },
      { keys: "k", about: "Previous event", group: "Events", act: () => step(-1) },
      {
        keys: "o",
        about: "Show the event as it is stored",
        group: "Events",
        act: () => {
          view.raw.value = standing;
        },
      },
    ],
    [places, standing],
  );
  useEffect(() => {
    if (marked === null) return;
    setStanding(marked);
    list.current?.show(placeIn(places, open.placeOf(marked)), "center");
    // Once for each place that a link leads to.
  }, [marked]);
  const keyOf = useMemo(() => (row: number) => told(row)?.event.sequence ?? -1, [places]);
  return (
    <div class="run-events" {...TABLE} {...{ "aria-rowcount": places.length + 1 }}>
      <div {...GROUP}>
        <div class="run-event run-event-head" {...HEAD}>
          <span {...COLUMN}>Event</span>
          <span {...COLUMN}>Time</span>
          <span {...COLUMN}>Type</span>
          <span {...COLUMN}>Data</span>
        </div>
      </div>
      <VirtualList
        class="run-event-list"
        role="rowgroup"
        rowRole="row"
        label="Events"
        count={places.length}
        keyOf={keyOf}
        estimate={rowHeight}
        follow
        handle={list}
        row={(row) => {
          const found = told(row);
          if (found === undefined) return null;
          const { sequence } = found.event;
          return <Line told={found} stands={sequence === standing} onOpen={() => (view.raw.value = sequence)} />;
        }}
      />
    </div>
  );
}

function Line({ told, stands, onOpen }: { told: Told; stands: boolean; onOpen: () => void }) {
  const { event, line } = told;
  return (
    <div role="presentation" class={stands ? "run-event stands" : "run-event"}>
      <span {...CELL}>
        <button type="button" class="quiet" onClick={onOpen} aria-label={`Event ${event.sequence} as it is stored`}>
          {event.sequence}
        </button>
      </span>
      <span {...CELL}>{event.occurred_at.slice(11, 23)}</span>
      <span {...CELL} title={plain(event.type)}>
        {plain(event.type)}
      </span>
      <span {...CELL}>
        <code>{plain(dataOf(line))}</code>
      </span>
    </div>
  );
}

/** The data of an envelope as it is stored; it is the last field. */
function dataOf(line: string): string {
  const begin = line.indexOf('"data":') + 7;
  return line.slice(begin, begin + PREVIEW).replace(/}$/, "");
}

function placesOf(told: readonly Told[], types: string): readonly number[] {
  const { fits } = typeFilter(types);
  const found: number[] = [];
  told.forEach(({ event }, place) => {
    if (fits(event.type)) found.push(place);
  });
  return found;
}

function rowHeight(): number {
  return ROW_PX;
}
