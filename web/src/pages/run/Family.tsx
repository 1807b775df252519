/** Where this run comes from and what came of it: sub-runs, retries, resumes and branches, as a small tree. */
import { useEffect, useState } from "preact/hooks";
import { to } from "../../parts/route";
import { State } from "../../parts/State";
import { plain } from "../../text/harmless";
import { dollars, short } from "../../text/words";
import { get } from "../../wire/api";
import type { Relative, Tree } from "../../wire/resources/runs";
import { isWide } from "./wide";

const RELATIONS: Readonly<Record<Relative["relation"], string>> = {
  first: "",
  again: "again",
  retry: "retry",
  resume: "resumed",
  branch: "branch",
  child: "sub-run",
};

/** The tree, read anew whenever `marker` changes. It shows nothing for a run that is alone. */
export function Family({ runId, marker }: { runId: string; marker: string }) {
  const [tree, setTree] = useState<Tree | null>(null);
  // The marker says when the tree may have changed.
  useEffect(() => {
    const stop = new AbortController();
    // A tree that cannot be read is left out: everything else of the page still stands.
    get<Tree>(`runs/${encodeURIComponent(runId)}/tree`, {}, stop.signal).then(setTree, () => undefined);
    return () => stop.abort();
  }, [runId, marker]);
  if (tree === null || tree.data.length < 2) return null;
  const known = new Set(tree.data.map((relative) => relative.run_id));
  const roots = tree.data.filter(({ from_run_id }) => from_run_id === null || !known.has(from_run_id));
  return (
    <section class="run-family" aria-label="Related runs">
      <details open={isWide()}>
        <summary>
          <h2>Related runs</h2> {tree.data.length - 1}
        </summary>
        <Branch all={tree.data} of={roots} here={runId} deep={0} />
        {tree.has_more && <p class="run-note">Only the first {tree.data.length} are shown.</p>}
      </details>
    </section>
  );
}

// A tree from the wire may name itself as its own beginning: deeper than this is not followed.
const DEEPEST = 20;

function Branch(props: { all: readonly Relative[]; of: readonly Relative[]; here: string; deep: number }) {
  if (props.of.length === 0 || props.deep > DEEPEST) return null;
  return (
    <ul>
      {props.of.map((relative) => (
        <li key={relative.run_id}>
          <Twig relative={relative} isHere={relative.run_id === props.here} />
          <Branch
            all={props.all}
            of={props.all.filter(({ from_run_id }) => from_run_id === relative.run_id)}
            here={props.here}
            deep={props.deep + 1}
          />
        </li>
      ))}
    </ul>
  );
}

function Twig({ relative, isHere }: { relative: Relative; isHere: boolean }) {
  const { relation, from_run_id, from_sequence } = relative;
  const name = relation === "child" && relative.title !== "" ? plain(relative.title) : short(relative.run_id);
  return (
    <span class="run-twig">
      <State state={relative.state} />
      <a href={to(`runs/${encodeURIComponent(relative.run_id)}`)} aria-current={isHere ? "page" : undefined}>
        {name}
      </a>
      <span class="run-note">
        {RELATIONS[relation]}
        {from_sequence !== null && from_run_id !== null && (
          <>
            {" "}
            from{" "}
            <a href={to(`runs/${encodeURIComponent(from_run_id)}`, { at: from_sequence })}>event {from_sequence}</a>
          </>
        )}{" "}
        {dollars(relative.cost_micros_usd)}
      </span>
    </span>
  );
}
