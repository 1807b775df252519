/** What to look for. Everything chosen here stands in the address. */
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { refine } from "../../parts/route";
import { plain } from "../../text/harmless";
import { short } from "../../text/words";
import { get } from "../../wire/api";
import type { List, Pane } from "../../wire/resources/runs";
import type { Session } from "../../wire/resources/work";
import { type Filter, isFiltering, NO_FILTER, STATES } from "./filter";

type Option = readonly [value: string, label: string];

export function Filters(props: { filter: Filter; panes: readonly Pane[]; search: RefObject<HTMLInputElement | null> }) {
  const { filter, panes } = props;
  const agents = [...new Set(panes.map((pane) => pane.agent))].sort().map((name): Option => [name, name]);
  const leave = (event: KeyboardEvent) => {
    if (event.key === "Escape" && event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
  };
  return (
    <search class="home-filters">
      <input
        ref={props.search}
        type="search"
        aria-label="Find runs by text"
        placeholder="Find… (/)"
        value={filter.text}
        onInput={(event) => refine({ q: event.currentTarget.value })}
        onKeyDown={leave}
      />
      <Choice name="agent" all="Any agent" chosen={filter.agent} options={agents} />
      <Choice name="state" all="Any state" chosen={filter.state} options={STATES.map((one) => [one, one])} />
      <Choice name="task" all="Any task" chosen={filter.task} options={tasksOf(panes)} />
      <Choice name="session" all="Any session" chosen={filter.session} options={useSessions()} />
      {isFiltering(filter) && (
        <button type="button" class="quiet" onClick={() => refine(NO_FILTER)}>
          Show all
        </button>
      )}
    </search>
  );
}

function Choice(props: { name: string; all: string; chosen: string; options: readonly Option[] }) {
  const { name, chosen, options } = props;
  // A link may name what is not known here; it is shown all the same, so that one sees why so little is.
  const shown =
    chosen === "" || options.some(([value]) => value === chosen) ? options : [[chosen, chosen] as const, ...options];
  return (
    <select
      aria-label={`Only of this ${name}`}
      class={chosen === "" ? "" : "chosen"}
      value={chosen}
      onChange={(event) => refine({ [name]: event.currentTarget.value })}
    >
      <option value="">{props.all}</option>
      {shown.map(([value, label]) => (
        <option key={value} value={value}>
          {plain(label)}
        </option>
      ))}
    </select>
  );
}

function tasksOf(panes: readonly Pane[]): Option[] {
  const found = new Map<string, string>();
  for (const pane of panes) if (pane.task_id !== null) found.set(pane.task_id, pane.title || short(pane.task_id));
  // The newest first, as ids are in the order in which they were made.
  return [...found].sort(([one], [other]) => (one < other ? 1 : -1)).slice(0, 200);
}

function useSessions(): Option[] {
  const [sessions, setSessions] = useState<Option[]>([]);
  useEffect(() => {
    get<List<Session>>("sessions").then(
      ({ data }) => setSessions(data.map((one) => [one.session_id, one.title || short(one.session_id)])),
      // A filter less; the runs are shown all the same.
      () => setSessions([]),
    );
  }, []);
  return sessions;
}
