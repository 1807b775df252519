/** The audit: what was done, by whom and with whose permission, newest first, live; as a file, all of it. */
import { useMemo, useRef, useState } from "preact/hooks";
import { useDoing } from "../../control/doing";
import { useKeys } from "../../parts/keys";
import { useLoaded } from "../../parts/loaded";
import { type Place, to } from "../../parts/route";
import { stepTo } from "../../parts/stepping";
import { Trouble } from "../../parts/Trouble";
import { say } from "../../parts/toast";
import { upright } from "../../text/harmless";
import { moment } from "../../text/words";
import { get } from "../../wire/api";
import type { AuditEntry } from "../../wire/resources/accounts";
import type { List } from "../../wire/resources/runs";
import type { Agent } from "../../wire/resources/work";
import type { Accounted } from "./account";
import { type Asked, askedOf, queryOf } from "./asked";
import { isPerson, nameOf } from "./doer";
import { Filters } from "./Filters";
import { type Ledger, useLedger } from "./ledger";
import { type Form, saveAudit } from "./saving";
import "./audit.css";

// On a phone the rows are drawn as cards, and a browser may forget then that they are a table.
const TABLE = { role: "table" } as const;
const GROUP = { role: "rowgroup" } as const;
const ROW = { role: "row" } as const;
const COLUMN = { role: "columnheader", scope: "col" } as const;
const CELL = { role: "cell" } as const;
// So many rows more with every wish for more.
const DRAWN = 200;

export default function Audit({ place }: { place: Place }) {
  const page = useRef<HTMLDivElement>(null);
  const asked = askedOf(place.query);
  const agents = useLoaded((signal) => get<List<Agent>>("agents", {}, signal), []);
  const name = JSON.stringify({ ...asked, people: false });
  const ledger = useLedger(name, () => queryOf(asked, Date.now()));
  const saving = useSaving(asked);
  useKeys(
    [
      { keys: "/", about: "Search", group: "Audit", act: () => focusWords(page.current) },
      { keys: "j", about: "Next fact", group: "Audit", act: () => stepTo(page.current, ".audit-open", 1) },
      { keys: "k", about: "Fact before", group: "Audit", act: () => stepTo(page.current, ".audit-open", -1) },
      { keys: "e", about: "Save as CSV", group: "Audit", act: () => saving.save("csv") },
      { keys: "E", about: "Save as NDJSON", group: "Audit", act: () => saving.save("ndjson") },
    ],
    [name, asked.people],
  );
  return (
    <div class="audit" ref={page}>
      <header>
        <h1>Audit</h1>
        <button type="button" disabled={saving.busy} onClick={() => saving.save("csv")}>
          CSV
        </button>
        <button type="button" disabled={saving.busy} onClick={() => saving.save("ndjson")}>
          NDJSON
        </button>
      </header>
      <Filters asked={asked} agents={agents.value?.data ?? []} />
      {saving.failure !== null && <Trouble failure={saving.failure} />}
      {ledger.failure !== null && <Trouble failure={ledger.failure} />}
      <Facts key={`${name}${asked.people}`} ledger={ledger} asked={asked} />
    </div>
  );
}

function useSaving(asked: Asked) {
  const doing = useDoing();
  const save = (form: Form) => {
    void doing.run(async () => {
      const many = await saveAudit(queryOf(asked, Date.now()), (entry) => isWanted(entry, asked), form);
      say(`Saved ${many.toLocaleString()} facts.`);
    });
  };
  return { busy: doing.busy, failure: doing.failure, save };
}

function Facts({ ledger, asked }: { ledger: Ledger; asked: Asked }) {
  const [most, setMost] = useState(DRAWN);
  const rows = useMemo(
    () => ledger.rows.filter(({ entry }) => isWanted(entry, asked)).toReversed(),
    [ledger.rows, asked.people],
  );
  if (rows.length === 0) {
    if (ledger.failure !== null) return null;
    return (
      <p class="audit-none">{ledger.busy ? "Reading…" : "Nothing fits. Ask for another kind or a longer time."}</p>
    );
  }
  return (
    <>
      <p class="audit-count">
        {rows.length.toLocaleString()} facts{ledger.busy && ", reading on…"}
        {ledger.left > 0 && `; ${ledger.left.toLocaleString()} older ones are in the file only`}
      </p>
      <table class="audit-table" {...TABLE}>
        <caption class="sr-only">What was done, newest first</caption>
        <thead {...GROUP}>
          <tr {...ROW}>
            <th {...COLUMN}>When</th>
            <th {...COLUMN}>Who</th>
            <th {...COLUMN}>What</th>
            <th {...COLUMN}>Event</th>
          </tr>
        </thead>
        <tbody {...GROUP}>
          {rows.slice(0, most).map((row) => (
            <Fact key={row.entry.event_id} row={row} />
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <button type="button" class="audit-more" onClick={() => setMost(most + DRAWN)}>
          Show {Math.min(DRAWN, rows.length - most)} older ones
        </button>
      )}
    </>
  );
}

function Fact({ row }: { row: Accounted }) {
  const { entry } = row;
  return (
    <tr {...ROW}>
      <td {...CELL} class="audit-when">
        <time dateTime={entry.occurred_at}>{moment(entry.occurred_at)}</time>
      </td>
      <td {...CELL} class="audit-who">
        <span class={isPerson(row.by) ? "audit-person" : "audit-soft"} title={row.by}>
          {upright(row.by === "" ? doerOf(entry) : nameOf(row.by))}
        </span>
        {row.allowedBy !== "" && (
          <span class="audit-soft" title={row.allowedBy}>
            {" "}
            allowed by {nameOf(row.allowedBy)}
          </span>
        )}
      </td>
      <td {...CELL} class="audit-what">
        <span class={toneOf(entry)}>{upright(entry.what)}</span>
        {row.about !== "" && <span class="audit-soft audit-about">{upright(row.about)}</span>}
      </td>
      <td {...CELL} class="audit-type">
        <a class="audit-open" href={to(`runs/${encodeURIComponent(entry.run_id)}`, { at: entry.sequence })}>
          {upright(entry.type)}
        </a>
      </td>
    </tr>
  );
}

function isWanted(entry: AuditEntry, asked: Asked): boolean {
  return !asked.people || isPerson(entry.who);
}

/** Who did what nobody signed: the agent, or whoever wrote the task. */
function doerOf(entry: AuditEntry): string {
  return entry.type === "user.message" ? "task" : entry.agent;
}

function toneOf(entry: AuditEntry): string {
  if (entry.type === "approval.resolved") return entry.what.startsWith("approved") ? "audit-good" : "audit-bad";
  if (["run.failed", "policy.tool_blocked", "cost.budget_exceeded"].includes(entry.type)) return "audit-bad";
  return "";
}

function focusWords(page: HTMLElement | null): void {
  page?.querySelector<HTMLInputElement>("input[name=words]")?.focus();
}
