/** Usage as a table: one row a group, its share as a bar, any column to sort by. */

import { to } from "../../parts/route";
import { plain } from "../../text/harmless";
import { count, dollars, short } from "../../text/words";
import type { UsageGroup, UsageRow } from "../../wire/resources/accounts";
import { COLUMNS, type Column, sorted, total } from "./sums";

export type Sort = Column | "group";

const NAMES: Readonly<Record<UsageGroup, string>> = { agent: "Agent", model: "Model", task: "Task", day: "Day" };

export function Sums(props: {
  group: UsageGroup;
  rows: readonly UsageRow[];
  sort: Sort;
  titles: ReadonlyMap<string, string>;
  onSort: (sort: Sort) => void;
}) {
  const { group, rows, sort } = props;
  const all = total(rows);
  // Where nothing was paid for, tokens say who used most.
  const measure: Column = all.cost_micros_usd > 0 ? "cost_micros_usd" : "input_tokens";
  return (
    <div class="usage-scroll">
      <table class="usage-table">
        <caption class="sr-only">Usage by {group}</caption>
        <thead>
          <tr>
            <Head name="group" label={NAMES[group]} sort={sort} onSort={props.onSort} />
            <th scope="col">
              <span class="sr-only">Share</span>
            </th>
            {COLUMNS.map(({ name, label }) => (
              <Head key={name} name={name} label={label} sort={sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted(rows, sort).map((row) => (
            <tr key={row.group}>
              <th scope="row">
                <Group group={group} name={row.group} title={props.titles.get(row.group)} />
              </th>
              <td class="usage-share">
                <Share part={row[measure]} whole={all[measure]} />
              </td>
              <Numbers row={row} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <td />
            <Numbers row={all} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function Head(props: { name: Sort; label: string; sort: Sort; onSort: (sort: Sort) => void }) {
  const isSorted = props.name === props.sort;
  return (
    <th scope="col" aria-sort={isSorted ? "descending" : "none"}>
      <button type="button" class="quiet" onClick={() => props.onSort(props.name)}>
        {props.label}
        {isSorted && <span aria-hidden="true"> ↓</span>}
      </button>
    </th>
  );
}

function Numbers({ row }: { row: UsageRow }) {
  return (
    <>
      {COLUMNS.map(({ name }) => (
        <td key={name} title={row[name].toLocaleString()}>
          {name === "cost_micros_usd" ? dollars(row[name]) : count(row[name])}
        </td>
      ))}
    </>
  );
}

/** A bar beside numbers that say the same. */
function Share({ part, whole }: { part: number; whole: number }) {
  const percent = whole === 0 ? 0 : (100 * part) / whole;
  return (
    <span class="usage-bar" title={`${percent.toFixed(1)} %`} aria-hidden="true">
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}

function Group({ group, name, title }: { group: UsageGroup; name: string; title: string | undefined }) {
  if (name === "") return <span class="usage-soft">{group === "task" ? "without a task" : "not told"}</span>;
  if (group === "task") return <a href={to("", { task: name })}>{plain(title ?? "") || short(name)}</a>;
  if (group === "agent") return <a href={to("", { agent: name })}>{plain(name)}</a>;
  return plain(name);
}
