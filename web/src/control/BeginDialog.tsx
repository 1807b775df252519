/** Begins a new run out of one that is there: continue, resume, branch or retry, with what may differ. */
import { useId, useState } from "preact/hooks";
import { Dialog } from "../parts/Dialog";
import { go } from "../parts/route";
import { Trouble } from "../parts/Trouble";
import { dollars } from "../text/words";
import type { Run } from "../wire/resources/runs";
import type { Attachment } from "./attaching";
import { sendsOn, useDoing } from "./doing";
import { FilePicker } from "./FilePicker";
import { micros } from "./money";
import { type Again, begin, type Verb } from "./verbs";

type Beginning = Exclude<Verb, "say" | "cancel">;

const TITLES: Readonly<Record<Beginning, string>> = {
  continue: "Continue this run",
  resume: "Resume this run",
  branch: "Branch off this run",
  retry: "Do it again",
};

const ABOUT: Readonly<Record<Beginning, string>> = {
  continue: "A new run of the task takes up the conversation, in the same workspace, with what you say now.",
  resume: "A new run of the task takes up the conversation where this one was, in the same workspace.",
  branch:
    "A new task goes its own way from there. A clone or worktree gets the patches up to there; this run stays as it is.",
  retry: "A new run of the task begins from nothing, with the same prompt. Nothing of this conversation counts.",
};

const BUTTONS: Readonly<Record<Beginning, string>> = {
  continue: "Continue",
  resume: "Resume",
  branch: "Branch",
  retry: "Start again",
};

export function BeginDialog(props: { verb: Beginning; run: Run; at: number | null; onClose: () => void }) {
  const { verb, run, at, onClose } = props;
  const [prompt, setPrompt] = useState("");
  const [model, setModel] = useState("");
  const [budget, setBudget] = useState("");
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [problem, setProblem] = useState<string>();
  const files = useId();
  const doing = useDoing();
  const budgetMicros = micros(budget);
  const isWrong = Number.isNaN(budgetMicros);
  const act = (event: Event) => {
    event.preventDefault();
    const again: Again = { from: at, prompt, model, budgetMicros, attachments };
    void doing.run(async () => {
      const born = await begin(verb, run, again);
      onClose();
      go(`runs/${born.run_id}`);
    });
  };
  return (
    <Dialog title={TITLES[verb]} onClose={onClose}>
      <form class="control-form" onSubmit={act}>
        <p>{ABOUT[verb]}</p>
        {verb !== "retry" && <p class="control-soft">{whence(at)}</p>}
        {verb === "continue" && (
          <>
            <label>
              Message
              <textarea
                rows={4}
                required
                value={prompt}
                onInput={(event) => setPrompt(event.currentTarget.value)}
                onKeyDown={sendsOn}
              />
            </label>
            <div>
              <label for={files}>Attachments, 700 kB together</label>
              <FilePicker id={files} chosen={attachments} onChosen={setAttachments} onProblem={setProblem} />
            </div>
            {problem !== undefined && <p class="control-wrong">{problem}</p>}
          </>
        )}
        <details>
          <summary>Another model or budget</summary>
          <label>
            Model
            <input
              value={model}
              placeholder={run.model ?? "as before"}
              onInput={(event) => setModel(event.currentTarget.value)}
            />
          </label>
          <label>
            Budget in dollars, for the whole task
            <input
              inputMode="decimal"
              value={budget}
              aria-invalid={isWrong}
              placeholder={run.budget_micros_usd === null ? "none" : dollars(run.budget_micros_usd)}
              onInput={(event) => setBudget(event.currentTarget.value)}
            />
          </label>
          {isWrong && <p class="control-wrong">An amount such as 2.50 is wanted.</p>}
        </details>
        {doing.failure !== null && <Trouble failure={doing.failure} />}
        <footer>
          <button type="submit" class="primary" disabled={doing.busy || isWrong || !isSaid(verb, prompt)}>
            {BUTTONS[verb]}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function whence(at: number | null): string {
  return at === null ? "It goes on from the last checkpoint, or from the end." : `Events up to ${at} count.`;
}

function isSaid(verb: Beginning, prompt: string): boolean {
  return verb !== "continue" || prompt.trim() !== "";
}
