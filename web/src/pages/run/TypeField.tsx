/** Which types of events are listed: names with commas between them, `*` for anything. */
import { useEffect, useRef, useState } from "preact/hooks";
import { typeFilter } from "../../fold/finding";
import { useKeys } from "../../parts/keys";
import { refine } from "../../parts/route";

const PAUSE_MS = 200;

export function TypeField({ types }: { types: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(types);
  const { wrong } = typeFilter(typed);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (wrong === null && typed.trim() !== types) refine({ type: typed.trim() });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, types, wrong]);
  useKeys([{ keys: "/", about: "Filter by type", group: "Events", act: () => field.current?.select() }], []);
  return (
    <search class="run-finder" aria-label="Events of this run">
      <input
        ref={field}
        type="search"
        aria-label="Types of events"
        aria-invalid={wrong !== null}
        placeholder="Types, such as tool.shell.*, run.*"
        value={typed}
        onInput={(change) => setTyped(change.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") field.current?.blur();
        }}
      />
      {wrong !== null && <output class="run-note">{wrong}</output>}
    </search>
  );
}
