/** A run that does a part of the work, one that branched off, or the one that this goes on from. */

import type { Child } from "../fold/blocks";
import { to } from "../parts/route";
import { short } from "../text/words";
import { type CardProps, Frame } from "./Frame";

const NAMES: Record<Child["relation"], string> = { child: "Child run", branch: "Branch", resumed_from: "Goes on from" };

export function ChildCard(props: CardProps<Child>) {
  const { relation, runId, summary, fromSequence, state, agent, result } = props.block;
  const at = relation === "resumed_from" && fromSequence !== null ? { at: fromSequence } : {};
  return (
    <Frame
      {...props}
      mark="⎇"
      name={NAMES[relation]}
      title={
        <>
          <a href={to(`runs/${encodeURIComponent(runId)}`, at)}>{short(runId)}</a>
          {fromSequence !== null && ` at ${fromSequence}`} {summary}
        </>
      }
      facts={
        <>
          {agent !== "" && <span>{agent}</span>}
          {state !== "" && <span class="card-fact">{state}</span>}
        </>
      }
      preview={result !== "" && <p class="card-summary">{result}</p>}
    />
  );
}
