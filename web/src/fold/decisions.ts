/** Questions to a person and how they were answered. */
import type { EventDataByType as Data } from "@protocol";
import { oneLine } from "../text/harmless";
import type { Approval, Block } from "./blocks";
import type { Calls } from "./calls";
import type { Timeline } from "./timeline";

export class Decisions {
  readonly #timeline: Timeline;
  readonly #calls: Calls;
  readonly #pending: Map<string, number>;

  constructor(timeline: Timeline, calls: Calls, of?: Decisions) {
    this.#timeline = timeline;
    this.#calls = calls;
    this.#pending = new Map(of === undefined ? [] : of.#pending);
  }

  /** How many are not answered. */
  get left(): number {
    return this.#pending.size;
  }

  /** Those that nobody has answered, the oldest first. */
  pending(): Map<string, Approval> {
    const found = new Map<string, Approval>();
    for (const [id, index] of this.#pending) {
      const block = this.#timeline.blocks[index];
      if (block?.kind === "approval") found.set(id, block);
    }
    return found;
  }

  asked(data: Data["approval.requested"]): Block {
    const block = this.#timeline.make<Approval>(true, (common) => ({
      kind: "approval",
      approvalId: data.approval_id,
      callId: data.tool_call_id,
      tool: oneLine(data.kind),
      summary: oneLine(data.summary),
      reason: oneLine(data.policy_reason),
      input: data.input ?? null,
      effects: data.effects ?? [],
      expiresAt: data.expires_at ?? null,
      state: "pending",
      by: "",
      comment: "",
      scope: "",
      edited: false,
      told: false,
      ...common,
    }));
    this.#pending.set(data.approval_id, block.index);
    const call = this.#calls.known(data.tool_call_id);
    if (call?.open) call.approvalId = data.approval_id;
    return block;
  }

  resolved(data: Data["approval.resolved"]): Block | null {
    const block = this.#settle(data.approval_id);
    if (block === null) return null;
    block.state = data.decision;
    block.by = oneLine(data.by);
    block.comment = oneLine(data.comment ?? "");
    block.scope = oneLine(data.scope ?? "");
    block.edited = data.edited_input !== undefined;
    return block;
  }

  expired(data: Data["approval.timed_out"]): Block | null {
    const block = this.#settle(data.approval_id);
    if (block === null) return null;
    block.state = "timed_out";
    block.comment = `nobody decided in ${data.after_seconds} s`;
    return block;
  }

  #settle(approvalId: string): Approval | null {
    const block = this.#timeline.change(this.#pending.get(approvalId));
    if (block?.kind !== "approval") return null;
    this.#pending.delete(approvalId);
    const call = this.#calls.known(block.callId);
    block.told = call !== null && call.approvalId === approvalId;
    this.#timeline.close(block);
    return block;
  }
}
