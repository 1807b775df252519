/** What few tasks need: a session, a title, limits, MCP servers, variables, attachments, experiments. */
import { useState } from "preact/hooks";
import { FilePicker } from "../../control/FilePicker";
import type { Session } from "../../wire/resources/work";
import { EXPERIMENTS } from "./choices";
import type { Change, Draft, FieldName, Problems } from "./draft";
import { Field } from "./Field";

interface Parts {
  readonly draft: Draft;
  readonly problems: Problems;
  readonly change: Change;
}

const MCP = '{"files": {"command": "npx", "args": ["some-mcp-server"]}, "web": {"url": "https://…"}}';

export function More(props: Parts & { sessions: readonly Session[] }) {
  const { draft } = props;
  return (
    <details class="start-more">
      <summary>More: attachments, session, limits, MCP servers, variables, experiments</summary>
      <Attachments {...props} />
      <div class="start-pair">
        <Text {...props} field="session" label="Session" about="Tasks of one session belong together: chat_…" list />
        <Text {...props} field="title" label="Title" about="Left empty, the prompt's first line." />
      </div>
      <datalist id="start-session">
        {props.sessions.map((session) => (
          <option key={session.session_id} value={session.session_id}>
            {session.title}
          </option>
        ))}
      </datalist>
      <div class="start-pair">
        <Text {...props} field="turns" label="Most turns" about="The run ends after so many calls of the model." />
        <Text {...props} field="timeout" label="Most seconds" about="The run ends after so long." />
      </div>
      <Lines {...props} field="mcp" label="MCP servers, as JSON" about={MCP} />
      <Lines {...props} field="env" label="Variables" about="NAME=value, one a line. Values are kept in the vault." />
      <fieldset class="start-checks">
        <legend>Experimental events</legend>
        {EXPERIMENTS.map(({ label, types }) => (
          <label key={label}>
            <input
              type="checkbox"
              name="experimental"
              checked={types.every((type) => draft.experimental.includes(type))}
              onChange={(event) => props.change({ experimental: switched(draft, types, event.currentTarget.checked) })}
            />
            {label}
          </label>
        ))}
        {props.problems.experimental !== undefined && <p class="start-problem">{props.problems.experimental}</p>}
      </fieldset>
    </details>
  );
}

function Attachments({ draft, problems, change }: Parts) {
  const [failure, setFailure] = useState<string>();
  return (
    <Field
      label="Attachments"
      problem={failure ?? problems.attachments}
      about="Pictures and files that the agent is shown, 700 kB together."
    >
      {(wires) => (
        <FilePicker
          {...wires}
          chosen={draft.attachments}
          onChosen={(attachments) => change({ attachments })}
          onProblem={setFailure}
        />
      )}
    </Field>
  );
}

type Typed = Extract<FieldName, "session" | "title" | "turns" | "timeout" | "mcp" | "env">;

function Text(props: Parts & { field: Typed; label: string; about: string; list?: boolean }) {
  const { draft, problems, change, field } = props;
  return (
    <Field label={props.label} problem={problems[field]} about={props.about}>
      {(wires) => (
        <input
          {...wires}
          name={field}
          autocomplete="off"
          list={props.list ? `start-${field}` : undefined}
          value={draft[field]}
          onInput={(event) => change({ [field]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
}

function Lines(props: Parts & { field: Typed; label: string; about: string }) {
  const { draft, problems, change, field } = props;
  return (
    <Field label={props.label} problem={problems[field]} about={<code>{props.about}</code>}>
      {(wires) => (
        <textarea
          {...wires}
          name={field}
          class="start-code"
          rows={3}
          spellcheck={false}
          autocomplete="off"
          value={draft[field]}
          onInput={(event) => change({ [field]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
}

function switched(draft: Draft, types: readonly string[], on: boolean): readonly string[] {
  const others = draft.experimental.filter((type) => !types.includes(type));
  return on ? [...others, ...types] : others;
}
