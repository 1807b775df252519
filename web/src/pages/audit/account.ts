/** Who did what with whose permission: facts of one call and one question, brought together. Pure. */
import type { AuditEntry } from "../../wire/resources/accounts";

/** A fact with what others say of it. */
export interface Accounted {
  readonly entry: AuditEntry;
  /** Who did it: a person, or nobody but the agent. */
  readonly by: string;
  /** Who allowed it, where somebody was asked. */
  readonly allowedBy: string;
  /** What it is about, where it only names it: the question that is answered, the change that is applied. */
  readonly about: string;
}

const DECIDED = /^(tool\.(multi_)?edit\.(applied|rejected|reverted)|approval\.(resolved|timed_out))$/;
const PROPOSED = /^tool\.(edit|multi_edit|file_write)\.proposed$/;

/** Takes facts in their order and knows, of each, what went before it. */
export class Account {
  readonly #questions = new Map<string, { what: string; callId: string | null }>();
  readonly #allowed = new Map<string, string>();
  readonly #changes = new Map<string, string>();

  /** One more fact. */
  take(entry: AuditEntry): Accounted {
    const { approval_id: approvalId, tool_call_id: callId } = entry;
    if (entry.type === "approval.requested" && approvalId !== null) {
      this.#questions.set(approvalId, { what: entry.what.replace(/^asks: /, ""), callId });
    }
    const asked = approvalId === null ? undefined : this.#questions.get(approvalId);
    const call = callKey(entry.run_id, callId ?? asked?.callId ?? null);
    if (call !== null && PROPOSED.test(entry.type)) this.#changes.set(call, entry.what);
    if (entry.type === "approval.resolved" && call !== null && entry.what.startsWith("approved")) {
      this.#allowed.set(call, entry.who);
    }
    return {
      entry,
      by: entry.who,
      allowedBy: entry.type.startsWith("tool.") ? known(this.#allowed, call) : "",
      about: DECIDED.test(entry.type) ? (asked?.what ?? known(this.#changes, call)) : "",
    };
  }
}

/** A call is named by its agent, which may name it as another run does. */
function callKey(runId: string, callId: string | null): string | null {
  return callId === null ? null : `${runId} ${callId}`;
}

function known(facts: ReadonlyMap<string, string>, call: string | null): string {
  return call === null ? "" : (facts.get(call) ?? "");
}
