/** No, and why. The agent reads the reason. */
import { useEffect, useRef } from "preact/hooks";
import type { Answer, Approval } from "../wire/resources/decisions";
import { begunOf, goOn } from "./begun";

export function DenyForm(props: {
  of: Approval;
  busy: boolean;
  /** Whether it takes the focus when it comes. */
  focus: boolean;
  onBack: () => void;
  onSend: (given: Answer) => void;
}) {
  const id = props.of.approval_id;
  const { reason, stop } = begunOf(id).value;
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (props.focus) field.current?.focus();
  }, []);
  const send = (event: Event) => {
    event.preventDefault();
    props.onSend({ decision: "denied", comment: reason.trim(), stop });
  };
  const keyed = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      // Leaves the form, and not the dialog around it.
      event.preventDefault();
      props.onBack();
    }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  return (
    <form class="decide-answer" onSubmit={send}>
      <label class="decide-comment">
        Why not? The agent reads this and can do something else.
        <textarea
          ref={field}
          rows={2}
          value={reason}
          onInput={(event) => goOn(id, { reason: event.currentTarget.value })}
          onKeyDown={keyed}
        />
      </label>
      <label class="decide-check">
        <input type="checkbox" checked={stop} onChange={(event) => goOn(id, { stop: event.currentTarget.checked })} />
        Stop the run as well
      </label>
      <div class="decide-buttons">
        <button type="submit" class="danger" disabled={props.busy}>
          {stop ? "Deny and stop" : "Deny"}
        </button>
        <button type="button" onClick={props.onBack}>
          Back
        </button>
      </div>
    </form>
  );
}
