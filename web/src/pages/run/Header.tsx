/** Who is at work on what, how it stands, what it has cost, and what can be done about it. */
import type { ComponentChildren } from "preact";
import { Controls } from "../../control/Controls";
import type { RunFold } from "../../fold/fold";
import { Ago } from "../../parts/Ago";
import { Budget } from "../../parts/Budget";
import { Copy } from "../../parts/Copy";
import { nowMs } from "../../parts/clock";
import { to } from "../../parts/route";
import { State } from "../../parts/State";
import { duration, modelName, moment, short } from "../../text/words";
import type { Run } from "../../wire/resources/runs";

/** The head of the page; `at` is the event that is looked at, when it is not the newest. */
export function Header({ run, fold, at }: { run: Run; fold: RunFold; at: number | null }) {
  const edits = fold.jumps.edits.length;
  return (
    <header class="run-head">
      <div class="run-title">
        <h1>{run.title === "" ? short(run.run_id) : run.title}</h1>
        <State state={run.pane.state} stalled={run.pane.stalled} />
        {run.demo && <span class="run-demo">demo</span>}
      </div>
      <div class="run-line">
        <span>{run.agent}</span>
        {run.model !== null && (
          <span class="run-model" title={modelOf(run)}>
            {modelName(run.model)}
          </span>
        )}
        <Budget spent={fold.totals.costMicrosUsd} budget={fold.totals.budgetMicrosUsd ?? run.budget_micros_usd} />
        <Age run={run} />
        {run.pane.attention && run.pane.reason !== "" && (
          <strong class={`run-reason ${run.pane.state}`}>{run.pane.reason}</strong>
        )}
      </div>
      <div class="run-doing">
        <Controls run={run} at={at} />
        <a class="button" href={to(`review/${encodeURIComponent(run.run_id)}`)} title="Review the changes (v)">
          Review{edits > 0 ? ` (${edits})` : ""}
        </a>
        <details class="run-details">
          <summary>Details</summary>
          <Details run={run} />
        </details>
      </div>
    </header>
  );
}

function Age({ run }: { run: Run }) {
  if (run.finished_at === null) {
    const since = run.started_at ?? run.created_at;
    return (
      <span title={`since ${moment(since)}`}>
        {run.started_at === null ? "waits" : "runs"} for {duration(nowMs.value - Date.parse(since))}
      </span>
    );
  }
  return (
    <span>
      ended <Ago at={run.finished_at} />
      {run.duration_ms !== null && ` after ${duration(run.duration_ms)}`}
    </span>
  );
}

function Details({ run }: { run: Run }) {
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
      {run.started_at !== null && <Detail name="Started">{moment(run.started_at)}</Detail>}
      {run.finished_at !== null && <Detail name="Ended">{moment(run.finished_at)}</Detail>}
      {run.worker_id !== null && <Detail name="Worker">{run.worker_id}</Detail>}
      {run.error_code !== null && (
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
