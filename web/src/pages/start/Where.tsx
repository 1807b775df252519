/** Where it works: how, and in which folder. */
import { MODES } from "./choices";
import type { Change, Draft, Problems } from "./draft";
import { Field } from "./Field";

export function Where({ draft, problems, change }: { draft: Draft; problems: Problems; change: Change }) {
  return (
    <div class="start-pair">
      <Field label="Workspace" problem={problems.mode} about={MODES.find(({ mode }) => mode === draft.mode)?.about}>
        {(wires) => (
          <select
            {...wires}
            name="mode"
            value={draft.mode}
            onChange={(event) => {
              const chosen = MODES.find(({ mode }) => mode === event.currentTarget.value);
              if (chosen !== undefined) change({ mode: chosen.mode });
            }}
          >
            {MODES.map(({ mode, label }) => (
              <option key={mode} value={mode}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {draft.mode !== "scratch" && (
        <Field label="Folder" problem={problems.path} about="An absolute path, where the gateway runs.">
          {(wires) => (
            <input
              {...wires}
              name="path"
              class="start-code"
              autocomplete="off"
              spellcheck={false}
              value={draft.path}
              onInput={(event) => change({ path: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
