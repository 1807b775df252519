/** What the audit is asked: kind, agent, time, words, and whether people did it. */
import { useEffect, useState } from "preact/hooks";
import { refine } from "../../parts/route";
import type { Agent } from "../../wire/resources/work";
import { type Asked, KINDS, TIMES } from "./asked";

export function Filters({ asked, agents }: { asked: Asked; agents: readonly Agent[] }) {
  const isBetween = asked.time === "between";
  return (
    <search class="audit-filters">
      <Typed label="Words" name="words" maxLength={256} value={asked.text} onTyped={(text) => refine({ text })} />
      <Typed
        label="Kind"
        name="kind"
        list="audit-kinds"
        placeholder="what counts"
        value={asked.type}
        onTyped={(type) => refine({ type })}
      />
      <datalist id="audit-kinds">
        {KINDS.map(({ pattern, label }) => (
          <option key={pattern} value={pattern}>
            {label}
          </option>
        ))}
      </datalist>
      <label>
        Agent
        <select value={asked.agent} onChange={(event) => refine({ agent: event.currentTarget.value })}>
          <option value="">All</option>
          {names(agents, asked.agent).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Time
        <select value={asked.time} onChange={(event) => refine({ time: event.currentTarget.value })}>
          <option value="">All</option>
          {Object.entries(TIMES).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
          <option value="between">Between…</option>
        </select>
      </label>
      {isBetween && <Moment name="from" label="From" value={asked.from} />}
      {isBetween && <Moment name="to" label="To" value={asked.to} />}
      <label class="audit-check">
        <input
          type="checkbox"
          checked={asked.people}
          onChange={(event) => refine({ people: event.currentTarget.checked ? "1" : "" })}
        />
        Done by people
      </label>
    </search>
  );
}

/** A field that keeps what is being typed to itself until it is meant: the page around it may be drawn anew meanwhile. */
function Typed(props: {
  label: string;
  name: string;
  value: string;
  list?: string;
  placeholder?: string;
  maxLength?: number;
  onTyped: (value: string) => void;
}) {
  const { label, value, onTyped, ...rest } = props;
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <label>
      {label}
      <input
        {...rest}
        type="search"
        autocomplete="off"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => onTyped(event.currentTarget.value)}
      />
    </label>
  );
}

function Moment({ name, label, value }: { name: "from" | "to"; label: string; value: string }) {
  return (
    <label>
      {label}
      <input type="datetime-local" value={value} onChange={(event) => refine({ [name]: event.currentTarget.value })} />
    </label>
  );
}

/** The agents that are known, and the one that the address names. */
function names(agents: readonly Agent[], chosen: string): readonly string[] {
  const known = agents.map(({ name }) => name);
  return chosen === "" || known.includes(chosen) ? known : [chosen, ...known];
}
