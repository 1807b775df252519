/** Every run as a pane, those that need somebody first, live. */
import { computed } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { DemoBanner, DemoOffer } from "../../control/DemoBanner";
import { ApprovalCard } from "../../decide/ApprovalCard";
import { Dialog } from "../../parts/Dialog";
import { useKeys } from "../../parts/keys";
import { type Place, place, to } from "../../parts/route";
import { Trouble } from "../../parts/Trouble";
import { plain } from "../../text/harmless";
import { changes, failure, older, pane as paneOf, panes, readOlder, wantPanes, watchPanes } from "../../wire/panes";
import type { Pane } from "../../wire/resources/runs";
import { may } from "../../wire/scopes";
import { Filters } from "./Filters";
import { askedOf, fits, isFiltering, readFilter } from "./filter";
import { type Group, type GroupName, grouped, sameGroups } from "./order";
import { RunPane } from "./RunPane";
import { canBeSeen, heeded, markSeen } from "./seen";
import { nextView, view } from "./view";
import "./home.css";

const NAMES: Record<GroupName, string> = { attention: "Needs attention", work: "At work", over: "Over" };

const filter = computed(() => readFilter(place.value.query));

let before: readonly Group[] = [];
const groups = computed(() => {
  changes.value;
  const wanted = filter.value;
  const now = grouped(
    panes()
      .map(heeded)
      .filter((pane) => fits(pane, wanted)),
  );
  // The list as a whole is drawn only when its order changes; panes draw themselves.
  if (!sameGroups(before, now)) before = now;
  return before;
});

export default function Home(_: { place: Place }) {
  const [deciding, setDeciding] = useState<Pane | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const asked = JSON.stringify(askedOf(filter.value));
  useEffect(watchPanes, []);
  useEffect(() => {
    const query = askedOf(filter.peek());
    if (query !== null) void wantPanes(query);
  }, [asked]);
  useHomeKeys(search, setDeciding);
  const shown = groups.value;
  const known = useMemo(() => panes(), [shown]);
  return (
    <div class="home">
      <header class="home-head">
        <h1>Agents</h1>
        <button type="button" class="quiet" onClick={nextView} title="Panes or rows (v)">
          {view.value === "grid" ? "As rows" : "As panes"}
        </button>
      </header>
      <p class="sr-only" role="status">
        {needing(shown)}
      </p>
      <DemoBanner />
      <Filters filter={filter.value} panes={known} search={search} />
      {failure.value !== null && <Trouble failure={failure.value} />}
      {shown.length === 0 && <Nothing />}
      {shown.map((group) => (
        <section key={group.name} class="home-group" aria-labelledby={`home-${group.name}`}>
          <div class="home-group-head">
            <h2 id={`home-${group.name}`}>
              {NAMES[group.name]} <span class="home-count">{group.ids.length}</span>
            </h2>
            {group.name === "attention" && <AllSeen ids={group.ids} />}
          </div>
          <ul class={`home-${view.value}`}>
            {group.ids.map((id) => (
              <RunPane key={id} runId={id} onDecide={setDeciding} />
            ))}
          </ul>
        </section>
      ))}
      {older.value === "more" && (
        <button type="button" class="home-older" onClick={() => void readOlder()}>
          Show older runs
        </button>
      )}
      {deciding !== null && (
        <Dialog title={plain(deciding.title)} onClose={() => setDeciding(null)} wide>
          <div class="home-deciding">
            {deciding.pending_approval_ids.map((id) => (
              <ApprovalCard key={id} approvalId={id} />
            ))}
          </div>
        </Dialog>
      )}
    </div>
  );
}

/** Takes all that failed out of the way at once. */
function AllSeen({ ids }: { ids: readonly string[] }) {
  const failed = ids.filter((id) => {
    const pane = paneOf(id);
    return pane !== undefined && canBeSeen(pane);
  });
  if (failed.length < 2) return null;
  return (
    <button type="button" class="quiet" onClick={() => markSeen(failed)}>
      Mark {failed.length} failed as seen
    </button>
  );
}

/** How many need somebody, for those who hear the page. */
function needing(shown: readonly Group[]): string {
  const many = shown.find(({ name }) => name === "attention")?.ids.length ?? 0;
  return many === 0 ? "No run needs attention." : `${many} ${many === 1 ? "run needs" : "runs need"} attention.`;
}

function Nothing() {
  if (older.value === "unread") return <p class="loading">Loading…</p>;
  if (isFiltering(filter.value)) return <p class="home-nothing">No run fits what is asked for.</p>;
  return (
    <div class="home-nothing">
      <p>
        Nothing has run yet.
        {may("write") && (
          <>
            {" "}
            <a href={to("new")}>Start a task</a>, or pipe an agent into <code>runwire ingest</code>.
          </>
        )}
      </p>
      <DemoOffer />
    </div>
  );
}

function useHomeKeys(search: { readonly current: HTMLInputElement | null }, decide: (pane: Pane) => void): void {
  const group = "Agents";
  useKeys(
    [
      { keys: "j", about: "Next run", group, act: () => move(1) },
      { keys: "k", about: "Previous run", group, act: () => move(-1) },
      // The link that has the focus opens by itself; this shows in the overlay that it does.
      { keys: "Enter", about: "Open the run", group, act: () => focusedLink()?.click() },
      {
        keys: "d",
        about: "Decide what the run asks",
        group,
        act: () => {
          const pane = focusedPane();
          if (pane !== undefined && pane.pending_approval_ids.length > 0 && may("operate")) decide(pane);
        },
      },
      {
        keys: "m",
        about: "Mark a failed run as seen",
        group,
        act: () => {
          const pane = focusedPane();
          if (pane === undefined || !canBeSeen(pane)) return;
          // The pane goes elsewhere; who moves on by keys moves on from here.
          move(1);
          markSeen([pane.run_id]);
        },
      },
      { keys: "/", about: "Find runs by text", group, act: () => search.current?.focus() },
      { keys: "v", about: "Panes or rows", group, act: nextView },
    ],
    [],
  );
}

function links(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(".home-title a")];
}

function focusedLink(): HTMLElement | undefined {
  return links().find((link) => link === document.activeElement);
}

function focusedPane(): Pane | undefined {
  const id = focusedLink()?.closest<HTMLElement>("[data-run]")?.dataset.run;
  return id === undefined ? undefined : paneOf(id);
}

function move(steps: number): void {
  const all = links();
  const focused = focusedLink();
  const now = focused === undefined ? -1 : all.indexOf(focused);
  all[Math.min(all.length - 1, Math.max(0, now + steps))]?.focus();
}
