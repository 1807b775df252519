/** Where the reader is: a patch and a hunk in it. Steps lead from the last hunk of one patch to the first of the next. */
import type { Artifact } from "../../wire/resources/work";

export interface At {
  readonly patch: number;
  readonly hunk: number;
}

/** How many places to stop at a patch has; one without hunks has one all the same. */
export function stopsOf(patch: Artifact): number {
  return Math.max(1, patch.stats?.hunks ?? 1);
}

/** One hunk on or back; at the very ends it stays. */
export function step(patches: readonly Artifact[], { patch, hunk }: At, by: 1 | -1): At {
  const here = patches[patch];
  if (here === undefined) return { patch: 0, hunk: 0 };
  const within = hunk + by;
  if (within >= 0 && within < stopsOf(here)) return { patch, hunk: within };
  const next = patches[patch + by];
  if (next === undefined) return { patch, hunk };
  return { patch: patch + by, hunk: by === 1 ? 0 : stopsOf(next) - 1 };
}

/** The next hunk that nobody has read, going round; none if all are read. */
export function nextUnread(
  patches: readonly Artifact[],
  from: At,
  read: (artifactId: string) => ReadonlySet<number>,
): At | null {
  const all = patches.flatMap((one, patch) =>
    Array.from({ length: stopsOf(one) }, (_, hunk) => ({ patch, hunk, id: one.id })),
  );
  const here = all.findIndex(({ patch, hunk }) => patch === from.patch && hunk === from.hunk);
  const unread = ({ id, hunk }: { id: string; hunk: number }) => !read(id).has(hunk);
  const found = [...all.slice(here + 1), ...all.slice(0, here + 1)].find(unread);
  return found === undefined ? null : { patch: found.patch, hunk: found.hunk };
}
