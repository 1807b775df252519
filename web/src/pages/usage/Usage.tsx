/** Usage: tokens and money by agent, model, task or day; day by day as a plot; the sums as a file. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { csv } from "../../draw/table";
import { useKeys } from "../../parts/keys";
import { useLoaded } from "../../parts/loaded";
import { type Place, refine } from "../../parts/route";
import { save } from "../../parts/save";
import { Trouble } from "../../parts/Trouble";
import { count, dollars } from "../../text/words";
import { get } from "../../wire/api";
import { catches, listen } from "../../wire/live";
import type { UsageGroup, UsageRow } from "../../wire/resources/accounts";
import type { List } from "../../wire/resources/runs";
import type { Task } from "../../wire/resources/work";
import { Days, type Shown } from "./Days";
import { type Sort, Sums } from "./Sums";
import { COLUMNS, total } from "./sums";
import "./usage.css";

const GROUPS: readonly UsageGroup[] = ["agent", "model", "task", "day"];
const SPANS: Readonly<Record<string, { label: string; days: number }>> = {
  day: { label: "Last 24 hours", days: 1 },
  week: { label: "Last 7 days", days: 7 },
  month: { label: "Last 30 days", days: 30 },
  year: { label: "Last 365 days", days: 365 },
};
const DAY_MS = 86_400_000;
// Sums are read anew at most this often while runs go on.
const ANEW_MS = 2_000;

export default function Usage({ place }: { place: Place }) {
  const group = GROUPS.find((one) => one === place.query.get("by")) ?? "agent";
  const span = place.query.get("time") ?? "";
  const shown: Shown = place.query.get("show") === "tokens" ? "tokens" : "cost";
  const [sort, setSort] = useState<Sort | null>(null);
  const sums = useSums(group, span);
  const days = useSums("day", span);
  const titles = useTitles(group === "task");
  const rows = sums.value?.data ?? [];
  useKeys(
    [
      ...GROUPS.map((by, index) => ({
        keys: String(index + 1),
        about: `By ${by}`,
        group: "Usage",
        act: () => refine({ by }),
      })),
      { keys: "m", about: "Money or tokens in the plot", group: "Usage", act: () => refine({ show: other(shown) }) },
      { keys: "e", about: "Save as CSV", group: "Usage", act: () => saveCsv(group, rows) },
    ],
    [group, shown, rows],
  );
  const failure = sums.failure ?? days.failure;
  return (
    <div class="usage">
      <header>
        <h1>Usage</h1>
        <button type="button" onClick={() => saveCsv(group, rows)}>
          CSV
        </button>
        <button type="button" onClick={() => saveJson(group, rows)}>
          JSON
        </button>
      </header>
      <Choices group={group} span={span} shown={shown} />
      {failure !== null && <Trouble failure={failure} />}
      {days.value !== null && <Totals rows={days.value.data} />}
      <section aria-label="Day by day">
        {days.value === null ? <p class="loading">Loading…</p> : <Days rows={days.value.data} shown={shown} />}
      </section>
      {sums.value !== null && sums.value.group_by === group && (
        <Sums
          group={group}
          rows={rows}
          sort={sort ?? (group === "day" ? "group" : "cost_micros_usd")}
          titles={titles}
          onSort={setSort}
        />
      )}
    </div>
  );
}

interface Report {
  readonly group_by: UsageGroup;
  readonly data: readonly UsageRow[];
}

/** The sums of a group, read anew while runs go on. */
function useSums(group: UsageGroup, span: string) {
  const sums = useLoaded(
    (signal) => get<Report>("usage", { group_by: group, since: sinceOf(span) }, signal),
    [group, span, catches.value],
  );
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((batch) => {
      if (!batch.some(({ event }) => /^(run|turn|cost)\./.test(event.type))) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        sums.again();
      }, ANEW_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [sums.again]);
  return sums;
}

/** What tasks are called, for those who ask. */
function useTitles(isAsked: boolean): ReadonlyMap<string, string> {
  const tasks = useLoaded(
    (signal) => (isAsked ? get<List<Task>>("tasks", { limit: 500 }, signal) : Promise.resolve(null)),
    [isAsked],
  );
  return useMemo(() => new Map((tasks.value?.data ?? []).map((task) => [task.task_id, task.title])), [tasks.value]);
}

function Choices({ group, span, shown }: { group: UsageGroup; span: string; shown: Shown }) {
  return (
    <div class="usage-choices">
      <fieldset>
        <legend class="sr-only">Group by</legend>
        {GROUPS.map((by, index) => (
          <button
            key={by}
            type="button"
            aria-pressed={by === group}
            title={`By ${by} (${index + 1})`}
            onClick={() => refine({ by })}
          >
            {by}
          </button>
        ))}
      </fieldset>
      <label>
        Time{" "}
        <select value={span} onChange={(event) => refine({ time: event.currentTarget.value })}>
          <option value="">All</option>
          {Object.entries(SPANS).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        Plot{" "}
        <select value={shown} onChange={(event) => refine({ show: event.currentTarget.value })}>
          <option value="cost">money</option>
          <option value="tokens">tokens</option>
        </select>
      </label>
    </div>
  );
}

function Totals({ rows }: { rows: readonly UsageRow[] }) {
  const all = total(rows);
  return (
    <dl class="usage-totals">
      {COLUMNS.map(({ name, label }) => (
        <div key={name}>
          <dt>{label}</dt>
          <dd>{name === "cost_micros_usd" ? dollars(all[name]) : count(all[name])}</dd>
        </div>
      ))}
    </dl>
  );
}

function sinceOf(span: string): string | undefined {
  const days = Object.hasOwn(SPANS, span) ? SPANS[span]?.days : undefined;
  return days === undefined ? undefined : new Date(Date.now() - days * DAY_MS).toISOString();
}

function other(shown: Shown): Shown {
  return shown === "cost" ? "tokens" : "cost";
}

function saveCsv(group: UsageGroup, rows: readonly UsageRow[]): void {
  const text = csv(
    [group, ...COLUMNS.map(({ name }) => name)],
    rows.map((row) => [row.group, ...COLUMNS.map(({ name }) => row[name])]),
  );
  save(new Blob([text], { type: "text/csv" }), `runwire-usage-by-${group}.csv`);
}

function saveJson(group: UsageGroup, rows: readonly UsageRow[]): void {
  const text = JSON.stringify({ group_by: group, data: rows }, null, 2);
  save(new Blob([text], { type: "application/json" }), `runwire-usage-by-${group}.json`);
}
