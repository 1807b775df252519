/** The audit as a file: every fact that fits, however many. */

import { csv } from "../../draw/table";
import { save } from "../../parts/save";
import type { Query } from "../../wire/base";
import type { AuditEntry } from "../../wire/resources/accounts";
import { facts } from "./reading";

export type Form = "csv" | "ndjson";

const COLUMNS = [
  "occurred_at",
  "agent",
  "who",
  "what",
  "type",
  "run_id",
  "sequence",
  "task_id",
  "approval_id",
  "tool_call_id",
  "event_id",
] as const;

/** Read all of it and hand it over; returns how many facts it has. */
export async function saveAudit(query: Query, wanted: (entry: AuditEntry) => boolean, form: Form): Promise<number> {
  const all: AuditEntry[] = [];
  for await (const page of facts(query, undefined, new AbortController().signal)) {
    all.push(...page.entries.filter(wanted));
  }
  const day = new Date().toISOString().slice(0, 10);
  const [text, mime] = form === "csv" ? [asCsv(all), "text/csv"] : [asLines(all), "application/x-ndjson"];
  save(new Blob([text], { type: mime }), `runwire-audit-${day}.${form}`);
  return all.length;
}

/** One row a fact. */
export function asCsv(entries: readonly AuditEntry[]): string {
  return csv(
    COLUMNS,
    entries.map((entry) => COLUMNS.map((name) => entry[name])),
  );
}

/** One object a line. */
export function asLines(entries: readonly AuditEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}
