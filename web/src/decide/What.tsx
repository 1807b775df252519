/** What would happen, all of it: the command or the change as what it is, and every other field of the input beside it. */
import type { Approval } from "../wire/resources/decisions";
import { type Fields, readAsked } from "./asked";
import { Exact, Seen } from "./Exact";
import { Lines } from "./Lines";
import { linesOfChange, linesOfDiff } from "./signed";

export function What({ of, input }: { of: Approval; input: Fields }) {
  const asked = readAsked({ input, tool_name: of.tool_name });
  return (
    <div class="decide-what">
      {asked.command !== null && <Exact text={asked.command} label="The exact command" />}
      {asked.changes.map((change, index) => (
        <div key={`${index}`} class="decide-change">
          <p class="decide-path">
            <Seen text={change.path} /> {change.before === null && <span class="decide-soft">(the whole file)</span>}
          </p>
          <Lines lines={linesOfChange(change)} label={`The exact change to ${change.path}`} />
        </div>
      ))}
      {asked.diff !== null && <Lines lines={linesOfDiff(asked.diff)} label="The exact change" />}
      <Rest fields={asked.rest} />
    </div>
  );
}

function Rest({ fields }: { fields: Fields }) {
  const entries = Object.entries(fields);
  if (entries.length === 0) return null;
  return (
    <dl class="decide-fields">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Seen text={name} />
          </dt>
          <dd>
            <Value value={value} name={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value, name }: { value: unknown; name: string }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (text.length > 80 || text.includes("\n")) return <Exact text={text} label={name} />;
  return (
    <code>
      <Seen text={text === "" ? "(empty)" : text} />
    </code>
  );
}
