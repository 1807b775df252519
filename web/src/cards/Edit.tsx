/** A change to files, with its diff when it is opened. */
import { seen } from "../draw/seen";
import type { Edit } from "../fold/blocks";
import { to } from "../parts/route";
import { type CardProps, Frame, type Level } from "./Frame";
import { Patch } from "./Patch";

const LEVELS: Record<Edit["state"], Level> = { proposed: "warn", applied: "good", rejected: "bad", reverted: "warn" };

export function EditCard(props: CardProps<Edit>) {
  const { paths, summary, state, waits, by, reason, artifactIds } = props.block;
  const first = paths[0] ?? summary;
  const word = state === "proposed" && waits ? "waits for you" : state;
  return (
    <Frame
      {...props}
      mark="✎"
      name={paths.length > 1 ? `${paths.length} files` : "Edit"}
      title={seen(paths.length > 1 ? paths.join(", ") : first)}
      level={state === "proposed" && waits ? "warn" : "plain"}
      facts={
        <span class={`card-fact ${LEVELS[state]}`}>
          {word}
          {by !== "" && ` by ${by}`}
        </span>
      }
      openAtFirst={state === "proposed" && waits}
      body={() => (
        <>
          {summary !== "" && <p class="card-summary">{summary}</p>}
          {reason !== "" && <p class="card-comment">{reason}</p>}
          {artifactIds.map((id) => (
            <Patch key={id} artifactId={id} />
          ))}
          <p>
            <a href={to(`review/${encodeURIComponent(props.runId)}`, { patch: artifactIds[0] })}>Review</a>
          </p>
        </>
      )}
    />
  );
}
