/** How far an approval reaches, with the very rule that it would make. */
import { useId } from "preact/hooks";
import type { Grants, Scope } from "../wire/resources/decisions";
import { Seen } from "./Exact";

export const SCOPES: readonly Scope[] = ["once", "session", "task", "always"];
const NAMES: Record<Scope, string> = { once: "Once", session: "This session", task: "This task", always: "Always" };

export function Scopes(props: { grants: Grants; chosen: Scope; onChoose: (scope: Scope) => void; stale: boolean }) {
  const id = useId();
  const { grants, chosen } = props;
  const refused = SCOPES.find((scope) => !grants[scope].granted);
  return (
    <fieldset class="decide-scopes">
      <legend>How far it reaches</legend>
      <div class="decide-choices">
        {SCOPES.map((scope) => (
          <label key={scope} class={grants[scope].granted ? "" : "decide-off"}>
            <input
              type="radio"
              name={id}
              checked={scope === chosen}
              disabled={!grants[scope].granted}
              title={grants[scope].granted ? undefined : grants[scope].text}
              onChange={() => props.onChoose(scope)}
            />
            {NAMES[scope]}
          </label>
        ))}
      </div>
      <p class="decide-rule" aria-live="polite" aria-busy={props.stale}>
        {chosen === "once" ? "Allows: " : "Allows from now on: "}
        <Seen text={grants[chosen].text} />
      </p>
      {refused !== undefined && (
        <p class="decide-soft">
          {NAMES[refused]} cannot be granted: <Seen text={grants[refused].text} />.
        </p>
      )}
    </fieldset>
  );
}

/** The next scope that would be granted, round and round. */
export function nextScope(grants: Grants, chosen: Scope): Scope {
  const offered = SCOPES.filter((scope) => grants[scope].granted);
  return offered[(offered.indexOf(chosen) + 1) % offered.length] ?? "once";
}
