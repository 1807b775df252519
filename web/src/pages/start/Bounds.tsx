/** Within which bounds: money, and what may happen without a person. */
import { POLICIES } from "./choices";
import { type Change, type Draft, OWN_RULES, type Problems } from "./draft";
import { Field } from "./Field";

const EXAMPLE = '{"default": "ask", "rules": [{"action": "allow", "tools": ["shell_exec"], "argv": ["npm test*"]}]}';

export function Bounds(props: {
  draft: Draft;
  problems: Problems;
  change: Change;
  policies: readonly string[] | undefined;
}) {
  const { draft, problems, change } = props;
  const names = props.policies ?? Object.keys(POLICIES);
  return (
    <>
      <div class="start-pair">
        <Field label="Policy" problem={problems.policy} about={aboutOf(draft.policy)}>
          {(wires) => (
            <select
              {...wires}
              name="policy"
              value={draft.policy}
              onChange={(event) => change({ policy: event.currentTarget.value })}
            >
              <option value="">The gateway's own</option>
              {names.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
              <option value={OWN_RULES}>Rules of my own…</option>
            </select>
          )}
        </Field>
        <Field label="Budget in dollars (optional)" problem={problems.budget} about="The run ends when it is spent.">
          {(wires) => (
            <input
              {...wires}
              name="budget"
              inputMode="decimal"
              autocomplete="off"
              placeholder="no limit"
              value={draft.budget}
              onInput={(event) => change({ budget: event.currentTarget.value })}
            />
          )}
        </Field>
      </div>
      {draft.policy === OWN_RULES && (
        <Field label="Rules, as JSON" problem={problems.rules} about={<code>{EXAMPLE}</code>}>
          {(wires) => (
            <textarea
              {...wires}
              name="rules"
              class="start-code"
              rows={6}
              spellcheck={false}
              value={draft.rules}
              onInput={(event) => change({ rules: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}

function aboutOf(policy: string): string {
  if (policy === "") return "What the gateway is set to for every task.";
  if (policy === OWN_RULES) return "Deny beats ask beats allow; the gateway's own policy holds as well.";
  return POLICIES[policy] ?? "";
}
