/** The questions that were answered last: what, by whom, how. */

import { Ago } from "../../parts/Ago";
import { useLoaded } from "../../parts/loaded";
import { to } from "../../parts/route";
import { Trouble } from "../../parts/Trouble";
import { plain } from "../../text/harmless";
import { get } from "../../wire/api";
import { pending } from "../../wire/approvals";
import type { Approval } from "../../wire/resources/decisions";
import type { List } from "../../wire/resources/runs";

const SHOWN = 25;
const WORDS = { pending: "waits", approved: "approved", denied: "denied", timed_out: "timed out" };

export function Decided({ runId }: { runId: string | null }) {
  // Whenever the waiting ones change, somebody has decided.
  const found = useLoaded(
    () => get<List<Approval>>("approvals", { limit: 100, run_id: runId ?? undefined }),
    [pending.value, runId],
  );
  if (found.failure !== null) return <Trouble failure={found.failure} />;
  if (found.value === null) return <p class="loading">Loading…</p>;
  const decided = found.value.data.filter((one) => one.status !== "pending").slice(0, SHOWN);
  if (decided.length === 0) return <p class="inbox-soft">Nothing has been decided yet.</p>;
  return (
    <div class="inbox-scroll">
      <table class="inbox-table">
        <caption class="sr-only">Lately decided questions, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Answer</th>
            <th scope="col">By</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {decided.map((one) => (
            <tr key={one.approval_id}>
              <td>
                <a href={to(`runs/${one.run_id}`)}>{plain(one.summary || one.tool_name)}</a>
                {one.comment && <div class="inbox-soft">{plain(one.comment)}</div>}
              </td>
              <td class={`inbox-${one.status}`}>
                {WORDS[one.status]}
                {one.scope !== null && one.scope !== "once" && `, ${one.scope}`}
                {one.edited_input !== null && ", edited"}
                {one.stop === true && ", stopped"}
              </td>
              <td>{plain(one.by ?? "nobody")}</td>
              <td>{one.resolved_at !== null && <Ago at={one.resolved_at} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
