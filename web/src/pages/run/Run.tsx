/** One run: how it stands, everything that happened in it, and what can be done about it. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Clock } from "../../parts/clock";
import { useKeys } from "../../parts/keys";
import { go, type Place, refine } from "../../parts/route";
import { Trouble } from "../../parts/Trouble";
import { EventTable } from "./EventTable";
import { Family } from "./Family";
import { Figures } from "./Figures";
import { Finder } from "./Finder";
import { Header } from "./Header";
import { OpenRun } from "./OpenRun";
import { RawEvent } from "./RawEvent";
import { Scrubber } from "./Scrubber";
import { standsNow, stoodThen } from "./stands";
import { Timeline } from "./Timeline";
import { TodoPanel } from "./TodoPanel";
import { TypeField } from "./TypeField";
import { View } from "./View";
import "./run.css";

type Tab = "timeline" | "events" | "figures";

const TABS: readonly { readonly name: Tab; readonly label: string; readonly key: string }[] = [
  { name: "timeline", label: "Timeline", key: "1" },
  { name: "events", label: "Events", key: "2" },
  { name: "figures", label: "Figures", key: "3" },
];

// Browsers take only so many changes of the address: it is written when the reader rests.
const RESTS_MS = 250;

export default function Run({ place }: { place: Place }) {
  const runId = place.path[1] ?? "";
  return <Opened key={runId} runId={runId} place={place} />;
}

function Opened({ runId, place }: { runId: string; place: Place }) {
  const open = useMemo(() => new OpenRun(runId), [runId]);
  const view = useMemo(() => new View(open), [open]);
  useEffect(() => open.follow(), [open]);
  useEffect(() => () => view.replay.pause(), [view]);
  useMark(open, view, place.query.get("at"));
  useReplayed(open, view, place.query.get("upto"));
  const tab = TABS.find(({ name }) => name === place.query.get("view"))?.name ?? "timeline";
  usePageKeys(view, runId);
  const run = open.run.value;
  const failure = open.failure.value;
  if (run === null) return failure === null ? <p class="loading">Loading…</p> : <Trouble failure={failure} />;
  return (
    <Clock.Provider value={view.replay.clock}>
      <div class="run">
        <Head open={open} view={view} />
        {failure !== null && <Trouble failure={failure} />}
        <Tabs tab={tab} />
        <Body open={open} view={view} tab={tab} types={place.query.get("type") ?? ""} />
        <Scrubber open={open} view={view} />
        <RawEvent open={open} view={view} />
      </div>
    </Clock.Provider>
  );
}

function Head({ open, view }: { open: OpenRun; view: View }) {
  void open.grown.value;
  const run = open.run.value;
  const selected = view.selected.value;
  const upTo = view.replay.upTo.value;
  const fold = view.fold();
  if (run === null) return null;
  const at = upTo ?? (selected === null ? null : (fold.blocks[selected]?.until ?? null));
  const stands = upTo === null ? standsNow(run) : stoodThen(fold);
  return <Header run={run} stands={stands} fold={fold} at={at} />;
}

function Tabs({ tab }: { tab: Tab }) {
  return (
    <nav class="run-tabs" aria-label="Views of the run">
      {TABS.map(({ name, label, key }) => (
        <button
          key={name}
          type="button"
          class="quiet"
          aria-current={name === tab ? "page" : undefined}
          title={`${label} (${key})`}
          onClick={() => openTab(name)}
        >
          {label}
        </button>
      ))}
    </nav>
  );
}

function Body({ open, view, tab, types }: { open: OpenRun; view: View; tab: Tab; types: string }) {
  const grown = open.grown.value;
  const upTo = view.replay.upTo.value;
  const fold = view.fold();
  const run = open.run.value;
  if (tab === "events") {
    return (
      <div class="run-body">
        <TypeField types={types} />
        <EventTable open={open} view={view} types={types} />
      </div>
    );
  }
  if (tab === "figures") {
    const onTurn = (block: number) => {
      openTab("timeline");
      view.show(block);
    };
    return (
      <div class="run-body run-scrolls">
        <Figures fold={fold} grown={grown + (upTo ?? 0)} onTurn={onTurn} />
      </div>
    );
  }
  return (
    <div class="run-body">
      <Finder view={view} />
      <div class="run-columns">
        <Timeline open={open} view={view} />
        <aside class="run-side" aria-label="Beside the timeline">
          <TodoPanel todo={fold.todo} />
          <Family runId={open.runId} marker={`${run?.status} ${run?.finished_at}`} />
        </aside>
      </div>
      {open.isReading.value && (
        <p class="run-reading" role="status">
          Reading… {open.read} events
        </p>
      )}
    </div>
  );
}

function openTab(tab: Tab): void {
  refine({ view: tab === "timeline" ? undefined : tab });
}

/** Go to the event that the address names, once it has been read. */
function useMark(open: OpenRun, view: View, at: string | null): void {
  const sequence = sequenceOf(at);
  const isRead = sequence !== null && open.reaches(sequence);
  useEffect(() => {
    if (sequence !== null && isRead) view.mark(sequence);
  }, [view, sequence, isRead]);
}

/** Keep how far the run is looked at in the address, so that it can be sent to somebody, and go where the address says. */
function useReplayed(open: OpenRun, view: View, upto: string | null): void {
  const { replay } = view;
  const wanted = sequenceOf(upto);
  const written = useRef<number | null>(null);
  const isRead = open.isFromStart.value && (!open.isReading.value || open.reaches(wanted ?? 0));
  useEffect(() => {
    // What was written here follows the reader, and does not lead.
    if (!isRead || wanted === written.current) return;
    written.current = wanted;
    if (wanted === null) replay.live();
    else replay.seek(wanted);
  }, [view, wanted, isRead]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isFirst = true;
    const stop = replay.upTo.subscribe((upTo) => {
      // What the address says has not been done yet.
      if (isFirst) {
        isFirst = false;
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(() => {
        written.current = upTo;
        refine({ upto: upTo ?? undefined });
      }, RESTS_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [view]);
}

function sequenceOf(word: string | null): number | null {
  return word === null || !/^\d{1,12}$/.test(word) ? null : Number(word);
}

function usePageKeys(view: View, runId: string): void {
  const { replay } = view;
  const leave = () => {
    if (replay.upTo.peek() !== null) replay.live();
    else if (view.selected.peek() !== null) view.selected.value = null;
    else if (view.marked.peek() !== null) {
      view.marked.value = null;
      refine({ at: undefined });
    } else go("");
  };
  const group = "This run";
  useKeys(
    [
      ...TABS.map(({ name, label, key }) => ({ keys: key, about: `${label}`, group, act: () => openTab(name) })),
      { keys: "v", about: "Review the changes", group, act: () => go(`review/${encodeURIComponent(runId)}`) },
      { keys: "h", about: "Show or hide what the model thinks", group, act: () => view.toggleThinking() },
      { keys: "p", about: "Play the run, or pause", group, act: () => replay.toggle() },
      { keys: ",", about: "Back by one event", group, act: () => replay.step(-1) },
      { keys: ".", about: "On by one event", group, act: () => replay.step(1) },
      { keys: "l", about: "Show everything, as it comes", group, act: () => replay.live() },
      { keys: "Escape", about: "Leave the replay, the block, the run", group, act: leave },
    ],
    [view, runId],
  );
}
