/** Which event changes what. Data is looked at before anything changes, so that what does not fit changes nothing. */
import { EVENT_TYPES, type EventDataByType, type EventType } from "@protocol";
import type { Block } from "./blocks";
import type { RunFold } from "./fold";
import { REMARKS, type Remark } from "./notes";
import { guardOf } from "./shapes";

/** Takes data into a fold: the block that it made or changed, null if there is none, undefined if it does not fit. */
type Reader = (fold: RunFold, data: unknown) => Block | null | undefined;
type Change<T extends EventType> = (fold: RunFold, data: EventDataByType[T]) => Block | null;

const CHANGES: { readonly [T in EventType]?: Change<T> } = {
  "run.started": (fold) => begun(fold),
  "run.finished": (fold, data) => fold.over("completed", "", data),
  "run.failed": (fold, data) => fold.over("failed", `${data.code}: ${data.message}`, data),
  "run.cancelled": (fold, data) =>
    fold.over("cancelled", `by ${data.by}${data.reason ? `: ${data.reason}` : ""}`, data),
  "run.resumed_from_event": (fold, data) =>
    fold.related("resumed_from", data.from_run_id, { fromSequence: data.from_sequence }),
  "run.child_started": (fold, data) => fold.related("child", data.child_run_id, data),
  "run.child_finished": (fold, data) => fold.childFinished(data),
  "run.branched": (fold, data) =>
    fold.related("branch", data.branch_run_id, { fromSequence: data.from_sequence, summary: data.reason ?? "" }),
  "turn.started": (fold, data) => fold.turnStarted(data),
  "turn.completed": (fold, data) => fold.turnCompleted(data),
  "turn.failed": (fold, data) => fold.turnFailed(data),
  "assistant.text_delta": (fold, data) => fold.sayings.said("prose", data),
  "assistant.text_complete": (fold, data) => fold.sayings.saidAll("prose", data),
  "assistant.thinking_delta": (fold, data) => fold.sayings.said("thinking", data),
  "assistant.thinking_complete": (fold, data) => fold.sayings.saidAll("thinking", data),
  "assistant.final_answer": (fold, data) => fold.sayings.answered(data),
  "assistant.tool_call_proposed": (fold, data) => fold.calls.proposed(data),
  "assistant.media": (fold, data) => fold.shown(data),
  "user.message": (fold, data) => fold.heard(data.text, data.by ?? ""),
  "user.attachment": (fold, { mime, artifact_id: artifactId }) => fold.heard("", "", { mime, artifactId }),
  "tool.invoked": (fold, data) => {
    begun(fold);
    return fold.calls.invoked(data);
  },
  "tool.started": (fold, data) => fold.calls.started(data),
  "tool.completed": (fold, data) => fold.calls.completed(data),
  "tool.failed": (fold, data) => fold.calls.failed(data),
  "tool.cancelled": (fold, data) => fold.calls.cancelled(data),
  "tool.timed_out": (fold, data) => fold.calls.timedOut(data),
  "policy.tool_blocked": (fold, data) => fold.calls.blocked(data),
  "tool.shell.command": (fold, data) => fold.calls.command(data),
  "tool.shell.output_chunk": (fold, data) => fold.calls.printed(data),
  "tool.shell.exited": (fold, data) => fold.calls.exited(data),
  "tool.glob.completed": (fold, data) => fold.calls.globbed(data),
  "tool.grep.completed": (fold, data) => fold.calls.grepped(data),
  "tool.file_read.completed": (fold, data) => fold.calls.read(data),
  "tool.http.requested": (fold, data) => fold.calls.requested(data, "http_request", "http"),
  "tool.http.response": (fold, data) => fold.calls.responded(data, "http_request", "http"),
  "tool.web_fetch.requested": (fold, data) => fold.calls.requested(data, "web_fetch", "web"),
  "tool.web_fetch.response": (fold, data) =>
    fold.calls.responded(data, "web_fetch", "web", data.extracted_text_artifact_id),
  "tool.web_search.requested": (fold, data) => fold.calls.searched(data),
  "tool.web_search.response": (fold, data) => fold.calls.found(data),
  "tool.todo_write.updated": (fold, data) => fold.listed(data),
  "tool.edit.proposed": (fold, data) => fold.changes.proposed(data),
  "tool.multi_edit.proposed": (fold, data) => fold.changes.proposed(data),
  "tool.file_write.proposed": (fold, data) => fold.changes.proposed(data),
  "tool.edit.applied": (fold, data) => fold.changes.applied(data),
  "tool.multi_edit.applied": (fold, data) => fold.changes.applied(data),
  "tool.edit.rejected": (fold, data) => fold.changes.rejected(data),
  "tool.multi_edit.rejected": (fold, data) => fold.changes.rejected(data),
  "tool.edit.reverted": (fold, data) => fold.changes.reverted(data),
  "tool.multi_edit.reverted": (fold, data) => fold.changes.reverted(data),
  "artifact.created": (fold, data) => fold.calls.stored(data),
  "approval.requested": (fold, data) => {
    fold.standing.asked();
    return fold.decisions.asked(data);
  },
  "approval.resolved": (fold, data) => settled(fold, fold.decisions.resolved(data)),
  "approval.timed_out": (fold, data) => settled(fold, fold.decisions.expired(data)),
  "cost.tick": (fold, data) => {
    fold.standing.ticked(data, fold.lastAt);
    return null;
  },
  "cost.budget_warning": (fold, data) => bounded(fold, data.task_budget_micros_usd),
  "cost.budget_exceeded": (fold, data) => bounded(fold, data.task_budget_micros_usd),
};

// Older names that are understood on reading.
const ALIASES: readonly (readonly [old: string, type: EventType])[] = [
  ["tool.file.patch", "tool.edit.proposed"],
  ["tool.file.applied", "tool.edit.applied"],
  ["tool.file.reverted", "tool.edit.reverted"],
];

const READERS = new Map<string, Reader>(EVENT_TYPES.map((type) => [type, reader(type)]));
for (const [old, type] of ALIASES) READERS.set(old, reader(type));

/** How events of a type are taken in; nothing for a type that nobody knows. */
export function readerOf(type: string): Reader | undefined {
  return READERS.get(type);
}

function reader<T extends EventType>(type: T): Reader {
  const fits = guardOf(type);
  const change: Change<T> | undefined = CHANGES[type];
  const remark: ((said: EventDataByType[T]) => Remark | null) | undefined = REMARKS[type];
  return (fold, data) => {
    if (!fits(data)) return undefined;
    const block = change?.(fold, data) ?? null;
    const said = remark?.(data) ?? null;
    return said === null ? block : fold.noted(...said);
  };
}

function begun(fold: RunFold): null {
  fold.standing.begun(fold.lastAt);
  return null;
}

function bounded(fold: RunFold, budgetMicrosUsd: number): null {
  fold.standing.bounded(budgetMicrosUsd);
  return null;
}

function settled(fold: RunFold, block: Block | null): Block | null {
  if (block !== null) fold.standing.settled(fold.decisions.left);
  return block;
}
