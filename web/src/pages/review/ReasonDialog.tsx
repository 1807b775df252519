/** Asks why, before a patch is refused or taken back. */
import { useState } from "preact/hooks";
import { Dialog } from "../../parts/Dialog";

interface Props {
  readonly title: string;
  readonly about: string;
  readonly verb: string;
  readonly onClose: () => void;
  readonly onDo: (reason: string) => void;
}

export function ReasonDialog({ title, about, verb, onClose, onDo }: Props) {
  const [reason, setReason] = useState("");
  const decide = (event: Event) => {
    event.preventDefault();
    onDo(reason.trim());
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="review-reason" onSubmit={decide}>
        <p>{about}</p>
        <label>
          Why (optional)
          <textarea rows={3} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        <div class="review-buttons">
          <button type="submit" class="danger">
            {verb}
          </button>
          <button type="button" onClick={onClose}>
            Leave it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
