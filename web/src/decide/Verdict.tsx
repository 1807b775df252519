/** How a question was answered: by whom, when, and how far it reaches. */

import { Ago } from "../parts/Ago";
import { plain } from "../text/harmless";
import type { Approval, Scope } from "../wire/resources/decisions";
import { Seen } from "./Exact";
import { What } from "./What";

const WORDS = { approved: "Approved", denied: "Denied", timed_out: "Nobody answered in time" };
const SHAPES = { approved: "✓", denied: "✕", timed_out: "⏱" };
const REACH: Record<Scope, string> = {
  once: "this once",
  session: "for this session",
  task: "for this task",
  always: "from now on",
};

export function Verdict({ of, lost }: { of: Approval; lost: boolean }) {
  if (of.status === "pending") return null;
  return (
    <div class={`decide-verdict ${of.status}`} role="status">
      <p>
        <strong>
          <span aria-hidden="true">{SHAPES[of.status]}</span> {WORDS[of.status]}
        </strong>
        {of.by !== null && <> by {plain(of.by)}</>}
        {of.resolved_at !== null && (
          <>
            {" "}
            <Ago at={of.resolved_at} />
          </>
        )}
        {reach(of)}
      </p>
      {of.comment && (
        <blockquote>
          <Seen text={of.comment} />
        </blockquote>
      )}
      {lost && <p>It was answered before you had finished. What you wrote was not sent.</p>}
      {of.edited_input !== null && (
        <>
          <p>With another input:</p>
          <What of={of} input={of.edited_input} />
        </>
      )}
    </div>
  );
}

function reach(of: Approval): string {
  if (of.status === "denied") return of.stop ? ", and the run was stopped" : "";
  return of.status === "approved" && of.scope !== null ? `, ${REACH[of.scope]}` : "";
}
