/** Every decision that stands, and revoking it. A section of a page that has the heading above it. */
import { useEffect, useState } from "preact/hooks";
import { Ago } from "../parts/Ago";
import { Dialog } from "../parts/Dialog";
import { useLoaded } from "../parts/loaded";
import { Trouble } from "../parts/Trouble";
import { say } from "../parts/toast";
import { upright } from "../text/harmless";
import { short } from "../text/words";
import { get, remove } from "../wire/api";
import { catches, listen } from "../wire/live";
import type { Permission } from "../wire/resources/decisions";
import type { List } from "../wire/resources/runs";
import { may } from "../wire/scopes";
import { useDoing } from "./doing";
import "./control.css";

export function Permissions() {
  const stands = useLoaded((signal) => get<List<Permission>>("permissions", {}, signal), [catches.value]);
  const [asked, setAsked] = useState<Permission | null>(null);
  // An answer may leave a permission behind, whoever gave it.
  useEffect(
    () => listen((batch) => batch.some(({ event }) => event.type === "approval.resolved") && stands.again()),
    [stands.again],
  );
  if (stands.value === null) {
    return stands.failure === null ? <p class="loading">Loading…</p> : <Trouble failure={stands.failure} />;
  }
  const { data } = stands.value;
  if (data.length === 0) {
    return <p class="control-soft">None. An approval for a session, a task or always leaves one here.</p>;
  }
  return (
    <>
      <ul class="permissions">
        {data.map((one) => (
          <li key={one.permission_id}>
            <div>
              <p class="permissions-rule">{upright(one.text)}</p>
              <p class="control-soft">
                {reachOf(one)} · made by {one.made_by} <Ago at={one.created_at} /> · used {times(one.used)}
              </p>
            </div>
            {may("operate") && (
              <button type="button" class="danger" onClick={() => setAsked(one)}>
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
      {asked !== null && <Revoke permission={asked} onClose={() => setAsked(null)} onRevoked={stands.again} />}
    </>
  );
}

function Revoke(props: { permission: Permission; onClose: () => void; onRevoked: () => void }) {
  const { permission, onClose, onRevoked } = props;
  const doing = useDoing();
  const act = (event: Event) => {
    event.preventDefault();
    void doing.run(async () => {
      await remove(`permissions/${encodeURIComponent(permission.permission_id)}`);
      say("Revoked: such calls are asked about again.");
      onClose();
      onRevoked();
    });
  };
  return (
    <Dialog title="Revoke this permission?" onClose={onClose}>
      <form class="control-form" onSubmit={act}>
        <p class="permissions-rule">{upright(permission.text)}</p>
        <p>From now on, calls like this are asked about again. What has already happened stays.</p>
        {doing.failure !== null && <Trouble failure={doing.failure} />}
        <footer>
          <button type="button" onClick={onClose}>
            Keep it
          </button>
          <button type="submit" class="danger" disabled={doing.busy}>
            Revoke
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function reachOf(permission: Permission): string {
  const whom = `${permission.agent} in ${permission.workspace}`;
  if (permission.scope === "always" || permission.scope_id === null) return `${permission.scope}: ${whom}`;
  return `${permission.scope} ${short(permission.scope_id)}: ${whom}`;
}

function times(used: number): string {
  return used === 1 ? "once" : `${used} times`;
}
