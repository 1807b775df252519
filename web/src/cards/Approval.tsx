/** A question to a person: asked of the reader while it is open, told in one line once it is answered. */
import { ApprovalCard } from "../decide/ApprovalCard";
import { Json } from "../draw/Json";
import type { Approval } from "../fold/blocks";
import { type CardProps, Frame, type Level } from "./Frame";

const LOOKS: Record<Approval["state"], { name: string; level: Level }> = {
  pending: { name: "Waits for you", level: "warn" },
  approved: { name: "Approved", level: "good" },
  denied: { name: "Denied", level: "bad" },
  timed_out: { name: "Nobody answered", level: "warn" },
};

export function ApprovalBlock(props: CardProps<Approval>) {
  const { state, summary, tool, by, comment, scope, edited, approvalId, input, reason } = props.block;
  const facts = [by && `by ${by}`, scope && scope !== "once" && `for ${scope}`, edited && "edited"].filter(Boolean);
  return (
    <Frame
      {...props}
      {...LOOKS[state]}
      mark="⚑"
      title={summary || tool}
      facts={facts.length > 0 && <span class="card-fact">{facts.join(", ")}</span>}
      openAtFirst={state === "pending"}
      preview={comment !== "" && <p class="card-comment">{comment}</p>}
      body={() =>
        state === "pending" ? (
          <ApprovalCard approvalId={approvalId} active={props.active ?? false} />
        ) : (
          <>
            {comment !== "" && <p class="card-comment">{comment}</p>}
            {reason !== "" && <p>Asked because: {reason}</p>}
            {input !== null && <Json value={input} />}
          </>
        )
      }
    />
  );
}
