/** The text of an artifact, fetched when somebody wants to see it. */
import { Printed } from "../draw/Printed";
import { Trouble } from "../parts/Trouble";
import { text } from "../wire/api";
import { Fetcher } from "./fetched";

const MAX_BYTES = 131_072;

const beginnings = new Fetcher(
  (id) => text(`artifacts/${encodeURIComponent(id)}/raw`, {}, { range: `bytes=0-${MAX_BYTES - 1}` }),
  30,
);

export function Stored({ artifactId, label }: { artifactId: string; label: string }) {
  const { value: content, failure } = beginnings.use(artifactId);
  if (failure !== null) return <Trouble failure={failure} />;
  if (content === null) return <p class="loading">Loading…</p>;
  return (
    <>
      <Printed pieces={[{ stream: "stdout", text: content }]} label={label} />
      {content.length >= MAX_BYTES && <p class="card-more">This is its beginning.</p>}
    </>
  );
}
