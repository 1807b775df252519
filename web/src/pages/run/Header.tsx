/** Who is at work on what, how it stands at the moment that is looked at, what it has cost, and what can be done now. */
import type { ComponentChildren } from "preact";
import { Controls } from "../../control/Controls";
import type { RunFold } from "../../fold/fold";
import { Ago } from "../../parts/Ago";
import { Budget } from "../../parts/Budget";
import { Copy } from "../../parts/Copy";
import { useNow } from "../../parts/clock";
import { to } from "../../parts/route";
import { State } from "../../parts/State";
import { plain } from "../../text/harmless";
import { duration, modelName, moment, short } from "../../text/words";
import type { Run } from "../../wire/resources/runs";
import type { Stands } from "./stands";

/** The head of the page; `at` is the event that is looked at, when it is not the newest. */
export function Header(props: { run: Run; stands: Stands; fold: RunFold; at: number | null }) {
  const { run, stands, fold, at } = props;
  const edits = fold.jumps.edits.length;
  return (
    <header class="run-head">
      <div class="run-title">
        <h1>{plain(run.title) || short(run.run_id)}</h1>
        <State state={stands.state} stalled={stands.stalled} />
        {run.demo && <span class="run-demo">demo</span>}
      </div>
      <div class="run-line">
        {stands.past !== null && <Past at={stands.past} />}
        <span>{plain(run.agent)}</span>
        {run.model !== null && (
          <span class="run-model" title={modelOf(run)}>
            {modelName(run.model)}
          </span>
        )}
        <Budget spent={fold.totals.costMicrosUsd} budget={fold.totals.budgetMicrosUsd ?? run.budget_micros_usd} />
        <Age createdAt={run.created_at} stands={stands} />
        {stands.reason !== "" && <strong class={`run-reason ${stands.state}`}>{plain(stands.reason)}</strong>}
      </div>
      <div class="run-doing">
        <Controls run={run} at={at} />
        <a class="button" href={to(`review/${encodeURIComponent(run.run_id)}`)} title="Review the changes (v)">
          Review{edits > 0 ? ` (${edits})` : ""}
        </a>
        <details class="run-details">
          <summary>Details</summary>
          <Details run={run} stands={stands} />
        </details>
      </div>
    </header>
  );
}

/** Says that this is the past, and which moment of it. */
function Past({ at }: { at: string }) {
  return (
    <time class="run-past" dateTime={at} title={moment(at)}>
      as it was at {new Date(at).toLocaleTimeString()}
    </time>
  );
}

function Age({ createdAt, stands }: { createdAt: string; stands: Stands }) {
  const { startedAt, endedAt, durationMs, past } = stands;
  const now = useNow();
  const since = startedAt ?? createdAt;
  if (endedAt === null) {
    return (
      <span title={`since ${moment(since)}`}>
        {startedAt === null ? "waits" : "runs"} for {duration(now - Date.parse(since))}
      </span>
    );
  }
  return (
    <span>
      ended {past === null && <Ago at={endedAt} />}
      {durationMs !== null && ` after ${duration(durationMs)}`}
    </span>
  );
}

function Details({ run, stands }: { run: Run; stands: Stands }) {
  return (
    <dl>
      <Id name="Run" id={run.run_id} />
      <Id name="Task" id={run.task_id} />
      <Id name="Session" id={run.session_id} />
      {run.model !== null && <Detail name="Model">{modelOf(run)}</Detail>}
      {run.workspace !== null && (
        <Detail name="Workspace">
          <Copy text={run.workspace.path} what="the path of the workspace">
            {run.workspace.path}
          </Copy>
          {run.workspace.mode !== null && ` ${run.workspace.mode}`}
        </Detail>
      )}
      <Detail name="Created">{moment(run.created_at)}</Detail>
      {stands.startedAt !== null && <Detail name="Started">{moment(stands.startedAt)}</Detail>}
      {stands.endedAt !== null && <Detail name="Ended">{moment(stands.endedAt)}</Detail>}
      {run.worker_id !== null && <Detail name="Worker">{run.worker_id}</Detail>}
      {run.error_code !== null && stands.endedAt !== null && (
        <Detail name="Error">
          {run.error_code}: {run.error_message}
        </Detail>
      )}
      <Id name="Hash of the log" id={run.head_hash} />
    </dl>
  );
}

function Id({ name, id }: { name: string; id: string | null }) {
  if (id === null) return null;
  return (
    <Detail name={name}>
      <Copy text={id} what={`the ${name.toLowerCase()}`}>
        <code>{id}</code>
      </Copy>
    </Detail>
  );
}

function Detail({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function modelOf(run: Run): string {
  const name = run.model ?? "";
  return run.provider === null || name.startsWith(`${run.provider}:`) ? name : `${run.provider}:${name}`;
}
