/** Narrow the timeline, find words in it, and jump to what matters. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../parts/keys";
import { FILTERS, filterOf } from "./shown";
import type { Stop, View } from "./View";

// Typing is over when nothing came for so long.
const PAUSE_MS = 150;

export function Finder({ view }: { view: View }) {
  // What can be jumped to grows with the run.
  void view.open.grown.value;
  const { jumps } = view.fold();
  return (
    <search class="run-finder" aria-label="In this run">
      <Words view={view} />
      <label>
        <span class="sr-only">Show</span>
        <select
          value={view.filter.value}
          onChange={(change) => {
            view.filter.value = filterOf(change.currentTarget.value);
          }}
        >
          {FILTERS.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label class="run-check" title="Show what the model thinks (h)">
        <input type="checkbox" checked={view.thinking.value} onChange={() => view.toggleThinking()} /> Thinking
      </label>
      <span class="run-jumps">
        <Jump view={view} stop="error" label="Error" keys="e" count={jumps.errors.length} />
        <Jump view={view} stop="approval" label="Approval" keys="w" count={jumps.approvals.length} />
        <Jump view={view} stop="edit" label="Edit" keys="m" count={jumps.edits.length} />
      </span>
      <span class="sr-only" role="status">
        {view.said.value}
      </span>
    </search>
  );
}

function Words({ view }: { view: View }) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(view.search.words.value);
  useKeys(
    [
      { keys: "/", about: "Search in this run", group: "Timeline", act: () => field.current?.select() },
      { keys: "n", about: "Next match", group: "Timeline", act: () => view.jump("hit", 1) },
      { keys: "N", about: "Previous match", group: "Timeline", act: () => view.jump("hit", -1) },
    ],
    [view],
  );
  useEffect(() => {
    const timer = setTimeout(() => view.search.look(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, view]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      view.search.look(typed);
      view.jump("hit", event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      setTyped("");
      view.search.look("");
      field.current?.blur();
    }
  };
  const { hits, words } = view.search;
  return (
    <span class="run-words">
      <input
        ref={field}
        type="search"
        aria-label="Search in this run"
        placeholder="Search ( / )"
        value={typed}
        onInput={(change) => setTyped(change.currentTarget.value)}
        onKeyDown={onKey}
      />
      {words.value !== "" && (
        <>
          <output class="run-hits">{hits.value.length === 1 ? "1 match" : `${hits.value.length} matches`}</output>
          <button type="button" aria-label="Previous match" title="Previous (N)" onClick={() => view.jump("hit", -1)}>
            ↑
          </button>
          <button type="button" aria-label="Next match" title="Next (n)" onClick={() => view.jump("hit", 1)}>
            ↓
          </button>
        </>
      )}
    </span>
  );
}

function Jump(props: { view: View; stop: Stop; label: string; keys: string; count: number }) {
  const { view, stop, label, keys, count } = props;
  const lower = label.toLowerCase();
  useKeys(
    [
      { keys, about: `Next ${lower}`, group: "Timeline", act: () => view.jump(stop, 1) },
      {
        keys: keys.toUpperCase(),
        about: `Previous ${lower}`,
        group: "Timeline",
        act: () => view.jump(stop, -1),
      },
    ],
    [view],
  );
  return (
    <button
      type="button"
      disabled={count === 0}
      title={`Next ${lower} (${keys}), previous (${keys.toUpperCase()})`}
      aria-label={`Next ${lower}, ${count} in all`}
      onClick={() => view.jump(stop, 1)}
    >
      {label} <span class="run-count">{count}</span>
    </button>
  );
}
