/** Says something to a run that is at work. */
import { useState } from "preact/hooks";
import { Dialog } from "../parts/Dialog";
import { Trouble } from "../parts/Trouble";
import { say } from "../parts/toast";
import type { Run } from "../wire/resources/runs";
import { sendsOn, useDoing } from "./doing";
import { sayTo } from "./verbs";

export function SayDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const [text, setText] = useState("");
  const doing = useDoing();
  const act = (event: Event) => {
    event.preventDefault();
    void doing.run(async () => {
      await sayTo(run, text);
      say("It will hear this before its next turn.");
      onClose();
    });
  };
  return (
    <Dialog title="Say something to the run" onClose={onClose}>
      <form class="control-form" onSubmit={act}>
        <label>
          Message
          <textarea
            rows={4}
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={sendsOn}
          />
        </label>
        <p class="control-soft">The agent hears it before its next turn. Ctrl+Enter sends.</p>
        {doing.failure !== null && <Trouble failure={doing.failure} />}
        <footer>
          <button type="submit" class="primary" disabled={doing.busy || text.trim() === ""}>
            Send
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
