/** No, and why. The agent reads the reason. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer } from "../wire/resources/decisions";

export function DenyForm(props: { busy: boolean; onBack: () => void; onSend: (given: Answer) => void }) {
  const [reason, setReason] = useState("");
  const [stop, setStop] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
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
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={keyed}
        />
      </label>
      <label class="decide-check">
        <input type="checkbox" checked={stop} onChange={(event) => setStop(event.currentTarget.checked)} />
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
