/** One patch: what it changes, whether it fits now, and the decision about it. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { usePatch } from "../../cards/Patch";
import { Diff } from "../../draw/Diff";
import { type FileDiff, pathOf } from "../../draw/hunks";
import { seen } from "../../draw/seen";
import { Ago } from "../../parts/Ago";
import { useKeys } from "../../parts/keys";
import { Trouble } from "../../parts/Trouble";
import { say } from "../../parts/toast";
import { get } from "../../wire/api";
import type { Artifact, Check } from "../../wire/resources/work";
import { type Deed, decide, deedsFor, standingOf } from "./deciding";
import { ReasonDialog } from "./ReasonDialog";
import { markHunks, readHunks } from "./read";
import { stopsOf } from "./reading";
import { type Verdict, verdictAfter, verdictOf, withRivals } from "./verdict";
import { Why } from "./Why";

interface Props {
  readonly patch: Artifact;
  /** All patches of the run. */
  readonly all: readonly Artifact[];
  readonly hunk: number;
  readonly split: boolean;
  readonly onDecided: () => void;
}

const DONE: Record<Deed, string> = { apply: "Applied", reject: "Rejected", revert: "Taken back" };
const NAMES: Record<Deed, string> = { apply: "Apply", reject: "Reject…", revert: "Revert…" };
const KEYS: Record<Deed, string> = { apply: "a", reject: "x", revert: "z" };
const ABOUT: Record<Deed, string> = {
  apply: "Apply the patch",
  reject: "Reject the patch",
  revert: "Take the patch back",
};

export function OnePatch({ patch, all, hunk, split, onDecided }: Props) {
  const { value: files, failure } = usePatch(patch.id);
  const { verdict, asking, setAsking, act, busy } = useDecision(patch, onDecided);
  const hunks = Array.from({ length: stopsOf(patch) }, (_, place) => place);
  const isRead = readHunks(patch.id).size >= hunks.length;
  return (
    <article class="review-patch" aria-labelledby="review-patch">
      <header>
        <h2 id="review-patch">
          <bdi>{seen(patch.target_path ?? patch.summary)}</bdi>
        </h2>
        <p class="review-about">
          <StateOf patch={patch} /> {seen(patch.summary)}, proposed <Ago at={patch.created_at} />
        </p>
        <div class="review-buttons">
          {deedsFor(patch).map((deed) => (
            <button
              key={deed}
              type="button"
              class={deed === "apply" ? "primary" : "danger"}
              disabled={busy}
              title={`${NAMES[deed]} (${KEYS[deed]})`}
              onClick={() => act(deed)}
            >
              {NAMES[deed]}
            </button>
          ))}
          <label>
            <input type="checkbox" checked={isRead} onChange={() => markHunks(patch.id, hunks, !isRead)} /> read
          </label>
        </div>
        {verdict !== null && <Why verdict={withRivals(verdict, [patch], all)} />}
      </header>
      {failure !== null && <Trouble failure={failure} />}
      {files === null ? (
        failure === null && <p class="loading">Loading…</p>
      ) : (
        <FileList files={files} patch={patch} hunk={hunk} split={split} />
      )}
      {asking !== null && (
        <ReasonDialog
          title={asking === "reject" ? "Reject this patch?" : "Take this patch back?"}
          about={
            asking === "reject"
              ? "Nothing is written. The agent is told, with your reason."
              : "The file becomes what it was before, if nobody has changed it since."
          }
          verb={asking === "reject" ? "Reject" : "Revert"}
          onClose={() => setAsking(null)}
          onDo={(reason) => act(asking, reason)}
        />
      )}
    </article>
  );
}

function useDecision(patch: Artifact, onDecided: () => void) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [asking, setAsking] = useState<Deed | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    setVerdict(null);
    setAsking(null);
    if (deedsFor(patch).length === 0) return;
    const stop = new AbortController();
    // Whether it fits is told before anybody decides; if it cannot be told, the decision itself will say.
    get<Check>(`artifacts/${encodeURIComponent(patch.id)}/check`, {}, stop.signal).then(
      (check) => setVerdict(verdictOf(check)),
      () => undefined,
    );
    return () => stop.abort();
  }, [patch.id, standingOf(patch)]);
  const act = (deed: Deed, reason?: string) => {
    if (busy || !deedsFor(patch).includes(deed)) return;
    if (deed !== "apply" && reason === undefined) {
      setAsking(deed);
      return;
    }
    setAsking(null);
    setBusy(true);
    decide(patch, deed, reason ?? "")
      .then(
        () => {
          setVerdict(null);
          say(`${DONE[deed]}: ${patch.target_path ?? patch.id}`);
        },
        (failure: unknown) => setVerdict(verdictAfter(failure, deed === "revert" ? "revert" : "apply")),
      )
      .finally(() => {
        setBusy(false);
        onDecided();
      });
  };
  const deeds = deedsFor(patch);
  useKeys(
    deeds.map((deed) => ({ keys: KEYS[deed], about: ABOUT[deed], group: "Review", act: () => act(deed) })),
    [patch, busy, deeds.join()],
  );
  return { verdict, asking, setAsking, act, busy };
}

function StateOf({ patch }: { patch: Artifact }) {
  const at = patch.reverted_at ?? patch.rejected_at ?? patch.applied_at;
  return (
    <span class={`review-state ${standingOf(patch)}`}>
      {standingOf(patch)}
      {at !== null && (
        <>
          {" "}
          <Ago at={at} />
        </>
      )}
    </span>
  );
}

/** A patch is one file as a rule; where it has several, its hunks are counted through. */
function FileList({
  files,
  patch,
  hunk,
  split,
}: {
  files: readonly FileDiff[];
  patch: Artifact;
  hunk: number;
  split: boolean;
}) {
  let before = 0;
  return (
    <>
      {files.map((file) => {
        const first = before;
        before += file.hunks.length;
        return <OneFile key={pathOf(file)} file={file} patch={patch} first={first} hunk={hunk} split={split} />;
      })}
      {files.length === 0 && <p class="draw-diff-none">There is nothing in it that could be shown as a diff.</p>}
    </>
  );
}

interface FileProps {
  readonly file: FileDiff;
  readonly patch: Artifact;
  /** The number that the first hunk of this file has in the patch. */
  readonly first: number;
  readonly hunk: number;
  readonly split: boolean;
}

function OneFile({ file, patch, first, hunk, split }: FileProps) {
  const marked = readHunks(patch.id);
  const read = useMemo(() => new Set([...marked].map((one) => one - first)), [marked, first]);
  const here = hunk - first;
  const reading = {
    read,
    at: here >= 0 && here < file.hunks.length ? here : null,
    onRead: (one: number) => markHunks(patch.id, [first + one], !read.has(one)),
  };
  return (
    <>
      <FileFacts file={file} />
      <Diff file={file} split={split} reading={reading} />
    </>
  );
}

/** What happens to the file beyond its lines. */
function FileFacts({ file }: { file: FileDiff }) {
  const { change, oldPath, newPath, oldMode, newMode, binary } = file;
  const facts: string[] = [];
  if (change === "renamed" || change === "copied") facts.push(`${change} from ${oldPath} to ${newPath}`);
  else if (change !== "changed") facts.push(`the file is ${change}`);
  if (oldMode !== null && newMode !== null) facts.push(`mode ${oldMode} becomes ${newMode}`);
  if (binary) facts.push("binary");
  return facts.length === 0 ? null : <p class="review-facts">{seen(facts.join(", "))}</p>;
}
