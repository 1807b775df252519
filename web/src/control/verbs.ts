/** What can be done with a run, and doing it. Nothing here draws. */
import { post } from "../wire/api";
import type { Run } from "../wire/resources/runs";
import type { Scope } from "../wire/scopes";
import { type Attachment, sentOf } from "./attaching";

/** say and cancel are for a run that is alive, the others begin a new one. */
export type Verb = "say" | "cancel" | "continue" | "resume" | "branch" | "retry";

/** How a new run is to differ from the one that it takes up. */
export interface Again {
  /** The last event that counts; nothing: the last checkpoint, or the end. */
  readonly from: number | null;
  readonly prompt: string;
  readonly model: string;
  readonly budgetMicros: number | null;
  readonly attachments: readonly Attachment[];
}

type Known = Pick<Run, "run_id" | "task_id" | "status" | "kind">;

/** Whether more will happen in it by itself. */
export function isAlive(run: Pick<Run, "status">): boolean {
  return run.status === "queued" || run.status === "running" || run.status === "awaiting_approval";
}

/** What makes sense now. A run that was only told of, such as an imported one, has no task to act on. */
export function offered(run: Known): readonly Verb[] {
  if (run.task_id === null) return [];
  const talks = run.kind === null || run.kind === "agent_loop";
  if (isAlive(run)) return talks ? ["say", "cancel", "branch"] : ["cancel"];
  return talks ? ["continue", "resume", "branch", "retry"] : ["retry"];
}

/** What a token must allow for it. */
export function scopeOf(verb: Verb): Scope {
  return verb === "say" || verb === "cancel" ? "operate" : "write";
}

/** End a run. It may take a moment: the answer says how it stands. */
export function cancel(run: Known, reason: string): Promise<Run> {
  return post<Run>(`${pathOf(run)}/cancel`, { reason });
}

/** Let a live run hear something before its next turn. */
export async function sayTo(run: Known, text: string): Promise<void> {
  await post(`${pathOf(run)}/messages`, { text });
}

/** Begin a new run out of this one. */
export function begin(verb: Exclude<Verb, "say" | "cancel">, run: Known, again: Again): Promise<Run> {
  return post<Run>(`${pathOf(run)}/${verb === "branch" ? "resume" : verb}`, bodyOf(verb, again));
}

/** What is sent: only what was said, because a field that does not belong is refused. */
export function bodyOf(verb: Exclude<Verb, "say" | "cancel">, again: Again): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  if (again.model.trim() !== "") body.model = again.model.trim();
  if (again.budgetMicros !== null) body.budget_micros_usd = again.budgetMicros;
  if (verb !== "retry" && again.from !== null) body.from_sequence = again.from;
  if (verb === "continue") {
    body.prompt = again.prompt;
    if (again.attachments.length > 0) body.attachments = sentOf(again.attachments);
  }
  if (verb === "branch") body.branch = true;
  return body;
}

function pathOf(run: Known): string {
  return `tasks/${encodeURIComponent(run.task_id ?? "")}/runs/${encodeURIComponent(run.run_id)}`;
}
