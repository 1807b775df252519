/** All patches of a run: read them, decide about each or about all at once, take them along as one diff. */
import { useEffect, useState } from "preact/hooks";
import { useKeys } from "../../parts/keys";
import { useLoaded } from "../../parts/loaded";
import { go, type Place, refine, to } from "../../parts/route";
import { save } from "../../parts/save";
import { Trouble } from "../../parts/Trouble";
import { sayFailure } from "../../parts/toast";
import { plain } from "../../text/harmless";
import { short } from "../../text/words";
import { get, text } from "../../wire/api";
import type { Run } from "../../wire/resources/runs";
import type { Artifact } from "../../wire/resources/work";
import { may } from "../../wire/scopes";
import { ApplyAll } from "./ApplyAll";
import { deedsFor, standingOf } from "./deciding";
import { Files } from "./Files";
import { OnePatch } from "./OnePatch";
import { usePatches } from "./patches";
import { markHunks, readHunks } from "./read";
import { type At, nextUnread, step } from "./reading";
import { keepSplit, useSplit } from "./split";
import "./review.css";

export default function Review({ place }: { place: Place }) {
  const runId = place.path[1] ?? "";
  const { all, failure, readAgain } = usePatches(runId);
  const run = useLoaded((signal) => get<Run>(`runs/${encodeURIComponent(runId)}`, {}, signal), [runId]);
  const [applying, setApplying] = useState(false);
  const split = useSplit();
  const patches = all ?? [];
  const [at, setAt] = useAt(patches, place.query.get("patch"));
  const patch = patches[at.patch];
  const proposed = patches.filter((one) => deedsFor(one).includes("apply"));
  const download = () => saveDiff(runId);
  useReadingKeys(runId, patches, at, setAt);
  useKeys(
    [
      { keys: "A", about: "Apply all that is proposed", group: "Review", act: () => setApplying(proposed.length > 0) },
      { keys: "v", about: "One column or two", group: "Review", act: () => keepSplit(!split) },
      { keys: "d", about: "Download as one diff", group: "Review", act: download },
    ],
    [runId, proposed.length, split],
  );
  return (
    <div class="review">
      <header class="review-head">
        <h1>
          Review of{" "}
          <a href={to(`runs/${encodeURIComponent(runId)}`)}>{plain(run.value?.title ?? "") || short(runId)}</a>
        </h1>
        <Summary patches={patches} />
        <div class="review-buttons">
          <button
            type="button"
            class="review-split"
            aria-pressed={split}
            onClick={() => keepSplit(!split)}
            title="One column or two (v)"
          >
            Side by side
          </button>
          <button type="button" onClick={download} title="Everything that is applied, as one diff (d)">
            Download diff
          </button>
          {may("operate") && (
            <button type="button" class="primary" disabled={proposed.length === 0} onClick={() => setApplying(true)}>
              Apply all {proposed.length > 0 && proposed.length}
            </button>
          )}
        </div>
      </header>
      {failure !== null && <Trouble failure={failure} />}
      {all === null && failure === null && <p class="loading">Loading…</p>}
      {all?.length === 0 && <p class="loading">This run has proposed no change to a file.</p>}
      {patch !== undefined && (
        <div class="review-both">
          <Files runId={runId} patches={patches} at={at.patch} />
          <OnePatch key={patch.id} patch={patch} all={patches} hunk={at.hunk} split={split} onDecided={readAgain} />
        </div>
      )}
      {applying && (
        <ApplyAll runId={runId} patches={proposed} onClose={() => setApplying(false)} onDecided={readAgain} />
      )}
    </div>
  );
}

function Summary({ patches }: { patches: readonly Artifact[] }) {
  const counts = new Map<string, number>();
  for (const standing of patches.map(standingOf)) counts.set(standing, (counts.get(standing) ?? 0) + 1);
  return <p class="review-summary">{[...counts].map(([standing, many]) => `${many} ${standing}`).join(", ")}</p>;
}

/** The patch is part of the place, so that it can be linked; the hunk is not. */
function useAt(patches: readonly Artifact[], wanted: string | null): [At, (at: At) => void] {
  const [hunk, setHunk] = useState({ of: wanted, hunk: 0 });
  const found = patches.findIndex(({ id }) => id === wanted);
  const first = patches.findIndex((one) => standingOf(one) === "proposed");
  const patch = found !== -1 ? found : Math.max(0, first);
  const id = patches[patch]?.id ?? null;
  useEffect(() => {
    // What is open stays open when its state changes.
    if (id !== null && wanted === null) refine({ patch: id });
  }, [id, wanted]);
  const setAt = (at: At) => {
    const next = patches[at.patch]?.id;
    if (next === undefined) return;
    setHunk({ of: next, hunk: at.hunk });
    if (next !== wanted) refine({ patch: next });
  };
  return [{ patch, hunk: hunk.of === id ? hunk.hunk : 0 }, setAt];
}

function useReadingKeys(runId: string, patches: readonly Artifact[], at: At, setAt: (at: At) => void): void {
  const group = "Review";
  const file = (by: number) => {
    const patch = at.patch + by;
    if (patches[patch] !== undefined) setAt({ patch, hunk: 0 });
  };
  const read = () => {
    const patch = patches[at.patch];
    if (patch === undefined) return;
    markHunks(patch.id, [at.hunk], true);
    const next = nextUnread(patches, at, readHunks);
    if (next !== null) setAt(next);
  };
  useKeys(
    [
      { keys: "j", about: "Next file", group, act: () => file(1) },
      { keys: "k", about: "Previous file", group, act: () => file(-1) },
      { keys: "n", about: "Next hunk", group, act: () => setAt(step(patches, at, 1)) },
      { keys: "p", about: "Previous hunk", group, act: () => setAt(step(patches, at, -1)) },
      { keys: "m", about: "Mark the hunk as read, go to the next unread one", group, act: read },
      { keys: "Escape", about: "Back to the run", group, act: () => go(`runs/${encodeURIComponent(runId)}`) },
    ],
    [runId, patches, at.patch, at.hunk],
  );
}

function saveDiff(runId: string): void {
  text(`runs/${encodeURIComponent(runId)}/patch`).then(
    (diff) => save(new Blob([diff], { type: "text/x-diff" }), `${runId}.diff`),
    sayFailure,
  );
}
