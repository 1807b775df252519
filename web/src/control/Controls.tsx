/** The buttons of a run: say, cancel, continue, resume, branch, retry. Each asks before it acts. */
import { useState } from "preact/hooks";
import { useKeys } from "../parts/keys";
import type { Run } from "../wire/resources/runs";
import { may } from "../wire/scopes";
import { BeginDialog } from "./BeginDialog";
import { CancelDialog } from "./CancelDialog";
import { SayDialog } from "./SayDialog";
import { offered, scopeOf, type Verb } from "./verbs";
import "./control.css";

const KEYS: Readonly<Record<Verb, string>> = {
  say: "s",
  cancel: "x",
  continue: "c",
  resume: "r",
  branch: "b",
  retry: "R",
};

const ABOUT: Readonly<Record<Verb, string>> = {
  say: "Say something to the run",
  cancel: "Cancel the run",
  continue: "Continue with something more said",
  resume: "Resume in a new run",
  branch: "Branch off into a task of its own",
  retry: "Do the same again from the beginning",
};

/** Controls of a run; `at` is the event that is looked at, when it is not the newest. */
export function Controls({ run, at }: { run: Run; at: number | null }) {
  const [open, setOpen] = useState<Verb | null>(null);
  const verbs = offered(run).filter((verb) => may(scopeOf(verb)));
  useKeys(
    verbs.map((verb) => ({ keys: KEYS[verb], about: ABOUT[verb], group: "This run", act: () => setOpen(verb) })),
    [verbs.join()],
  );
  if (verbs.length === 0) return null;
  const close = () => setOpen(null);
  return (
    <>
      <fieldset class="controls" aria-label="Controls">
        {verbs.map((verb) => (
          <button
            key={verb}
            type="button"
            class={verb === "cancel" ? "danger" : ""}
            title={`${ABOUT[verb]} (${KEYS[verb]})`}
            onClick={() => setOpen(verb)}
          >
            {labelOf(verb, at)}
          </button>
        ))}
      </fieldset>
      {open === "cancel" && <CancelDialog run={run} onClose={close} />}
      {open === "say" && <SayDialog run={run} onClose={close} />}
      {open !== null && open !== "cancel" && open !== "say" && (
        <BeginDialog key={open} verb={open} run={run} at={open === "retry" ? null : at} onClose={close} />
      )}
    </>
  );
}

function labelOf(verb: Verb, at: number | null): string {
  const word = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
  const isFromHere = at !== null && (verb === "resume" || verb === "branch");
  return isFromHere ? `${word} from ${at}` : word;
}
