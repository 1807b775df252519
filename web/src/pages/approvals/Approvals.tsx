/** The inbox: every question of every run, and how those before were answered. What is answered here stays in its place. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Permissions } from "../../control/Permissions";
import { ApprovalCard } from "../../decide/ApprovalCard";
import { useKeys } from "../../parts/keys";
import { go, type Place, to } from "../../parts/route";
import { plain } from "../../text/harmless";
import { short } from "../../text/words";
import { Refusal } from "../../wire/api";
import { approval, pending, pendingRead } from "../../wire/approvals";
import { pane } from "../../wire/panes";
import { Decided } from "./Decided";
import "./approvals.css";

export default function Approvals({ place }: { place: Place }) {
  const runId = place.query.get("run");
  const ids = useInbox().filter((id) => runId === null || runOf(id) === runId);
  const waiting = ids.filter((id) => pending.value.includes(id)).length;
  const [marked, setMarked] = useState<string | null>(null);
  const active = marked !== null && ids.includes(marked) ? marked : (ids[0] ?? null);
  useInboxKeys(ids, active, setMarked);
  return (
    <div class="inbox">
      <h1>Approvals</h1>
      <p class="inbox-soft" role="status">
        {pendingRead.value ? said(waiting) : "Loading…"}{" "}
        {runId !== null && (
          <>
            Only those of one run are shown. <a href={to("approvals")}>Show all</a>
          </>
        )}
      </p>
      <section aria-labelledby="inbox-questions">
        <h2 id="inbox-questions" class="sr-only">
          Questions
        </h2>
        {ids.map((id) => (
          <Question key={id} id={id} active={id === active} onMark={() => setMarked(id)} />
        ))}
      </section>
      <section aria-labelledby="inbox-decided">
        <h2 id="inbox-decided">Lately decided</h2>
        <Decided runId={runId} />
      </section>
      <section aria-labelledby="inbox-permissions">
        <h2 id="inbox-permissions">Standing permissions</h2>
        <Permissions />
      </section>
    </div>
  );
}

function Question(props: { id: string; active: boolean; onMark: () => void }) {
  const { id, active } = props;
  const runId = runOf(id);
  const from = runId === null ? undefined : pane(runId);
  return (
    // Clicks and the focus mark a question for the keys; everything in it is reached without either.
    // biome-ignore lint/a11y/noStaticElementInteractions: it only follows the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: it only follows the focus
    <div
      class={active ? "inbox-card active" : "inbox-card"}
      data-approval={id}
      onFocusIn={props.onMark}
      onClick={props.onMark}
    >
      {runId !== null && (
        <p class="inbox-from">
          <a href={to(`runs/${runId}`)}>{plain(from?.title ?? "") || short(runId)}</a>
          {from !== undefined && <span class="inbox-soft">{plain(from.agent)}</span>}
        </p>
      )}
      <ApprovalCard approvalId={id} active={active} />
    </div>
  );
}

/** All that wait, and those that were seen waiting since the page was opened, each in the place that it had. */
function useInbox(): readonly string[] {
  const seen = useRef(new Set<string>());
  const now = pending.value;
  for (const id of now) seen.current.add(id);
  return [...seen.current].sort();
}

function useInboxKeys(ids: readonly string[], active: string | null, mark: (id: string) => void): void {
  const now = useRef({ ids, active });
  now.current = { ids, active };
  const group = "Approvals";
  const move = (steps: number) => {
    const { ids: all, active: at } = now.current;
    const next = all[Math.min(all.length - 1, Math.max(0, (at === null ? -1 : all.indexOf(at)) + steps))];
    if (next !== undefined) mark(next);
  };
  const open = () => {
    const runId = now.current.active === null ? null : runOf(now.current.active);
    if (runId !== null) go(`runs/${runId}`);
  };
  useKeys(
    [
      { keys: "j", about: "Next question", group, act: () => move(1) },
      { keys: "k", about: "Previous question", group, act: () => move(-1) },
      { keys: "Enter", about: "Open the run that asks", group, act: open },
    ],
    [],
  );
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    if (active !== null)
      document.querySelector(`[data-approval="${CSS.escape(active)}"]`)?.scrollIntoView({ block: "nearest" });
  }, [active]);
}

function runOf(id: string): string | null {
  const known = approval(id).value;
  return known === null || known instanceof Refusal ? null : known.run_id;
}

function said(waiting: number): string {
  if (waiting === 0) return "Nobody waits for an answer.";
  return waiting === 1 ? "One question waits for an answer." : `${waiting} questions wait for an answer.`;
}
