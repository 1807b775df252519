/** Asks once more before a run is ended. */
import { useState } from "preact/hooks";
import { Dialog } from "../parts/Dialog";
import { Trouble } from "../parts/Trouble";
import { say } from "../parts/toast";
import type { Run } from "../wire/resources/runs";
import { useDoing } from "./doing";
import { cancel, isAlive } from "./verbs";

export function CancelDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const doing = useDoing();
  const act = (event: Event) => {
    event.preventDefault();
    void doing.run(async () => {
      const now = await cancel(run, reason);
      say(isAlive(now) ? "The run has been told to end." : "The run is cancelled.");
      onClose();
    });
  };
  return (
    <Dialog title="Cancel this run?" onClose={onClose}>
      <form class="control-form" onSubmit={act}>
        <p>What it is doing now ends. What it has done so far stays, and can be taken up again.</p>
        <label>
          Why (optional)
          <input value={reason} maxLength={500} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        {doing.failure !== null && <Trouble failure={doing.failure} />}
        <footer>
          <button type="button" onClick={onClose}>
            Keep it running
          </button>
          <button type="submit" class="danger" disabled={doing.busy}>
            Cancel the run
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
