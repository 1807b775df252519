/** Every patch of the run: which file, how much, what became of it, how much of it has been read. */
import { seen } from "../../draw/seen";
import { to } from "../../parts/route";
import type { Artifact } from "../../wire/resources/work";
import { type Standing, standingOf } from "./deciding";
import { readHunks } from "./read";
import { stopsOf } from "./reading";

const MARKS: Record<Standing, string> = {
  proposed: "○",
  applied: "✓",
  rejected: "✕",
  reverted: "↶",
  unknown: "?",
};

export function Files({ runId, patches, at }: { runId: string; patches: readonly Artifact[]; at: number }) {
  return (
    <nav class="review-files" aria-label="Files">
      <ol>
        {patches.map((patch, place) => (
          <li key={patch.id}>
            <OneFile runId={runId} patch={patch} here={place === at} nth={nthOf(patches, place)} />
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Which patch to the same file it is. */
function nthOf(patches: readonly Artifact[], place: number): number {
  const path = patches[place]?.target_path;
  return patches.slice(0, place + 1).filter(({ target_path }) => target_path === path).length;
}

interface FileProps {
  readonly runId: string;
  readonly patch: Artifact;
  readonly here: boolean;
  readonly nth: number;
}

function OneFile({ runId, patch, here, nth }: FileProps) {
  const { id, stats, target_path, summary } = patch;
  const standing = standingOf(patch);
  const read = readHunks(id).size >= stopsOf(patch);
  return (
    <a href={to(`review/${encodeURIComponent(runId)}`, { patch: id })} aria-current={here ? "true" : undefined}>
      <span class={`review-mark ${standing}`} title={standing}>
        <span aria-hidden="true">{MARKS[standing]}</span>
        <span class="sr-only">{standing}: </span>
      </span>
      <span class="review-path">
        <bdi>{seen(target_path ?? summary)}</bdi>
        {nth > 1 && <span class="review-nth"> {nth}</span>}
      </span>
      {stats !== null && (
        <span class="review-stats">
          <span class="added">+{stats.additions}</span> <span class="removed">−{stats.deletions}</span>
        </span>
      )}
      {read && <span class="review-read">read</span>}
    </a>
  );
}
