/** One patch's diff, fetched when it is shown. */
import { Diff } from "../draw/Diff";
import { type FileDiff, parseDiff, pathOf } from "../draw/hunks";
import { Trouble } from "../parts/Trouble";
import { text } from "../wire/api";
import { type Fetched, Fetcher } from "./fetched";

const patches = new Fetcher(async (id) => parseDiff(await text(`artifacts/${encodeURIComponent(id)}/raw`)));

/** The files of a patch; nothing while they are on their way. */
export function usePatch(artifactId: string): Fetched<readonly FileDiff[]> {
  return patches.use(artifactId);
}

export function Patch({ artifactId }: { artifactId: string }) {
  const { value: files, failure } = usePatch(artifactId);
  if (failure !== null) return <Trouble failure={failure} />;
  if (files === null) return <p class="loading">Loading…</p>;
  return (
    <>
      {files.map((file) => (
        <Diff key={pathOf(file)} file={file} split={false} />
      ))}
      {files.length === 0 && <p class="draw-diff-none">There is nothing in it that could be shown as a diff.</p>}
    </>
  );
}
