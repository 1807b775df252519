/**
 * Every run at a glance. What changed is read anew a few times a second, however much happens; whatever waits for a
 * person is always here, however old it is.
 */
import { type Signal, signal } from "@preact/signals";
import { get } from "./api";
import type { Query } from "./base";
import { catches, listen } from "./live";
import type { List, Pane } from "./resources/runs";

/** Grows whenever panes have changed, at most a few times a second. */
export const changes = signal(0);

/** Whether there are older runs that have not been read; unread: nobody has looked yet. */
export const older = signal<"more" | "none" | "unread">("unread");

/** Why panes could not be read, while they cannot. */
export const failure = signal<unknown>(null);

// A person sees no difference below this; a tab that shows no panes only counts them.
const SHOWN_MS = 250;
const ASIDE_MS = 2_000;
const ALIVE = "queued,running,awaiting_approval";
const FIRST = 200;
const PAGE = 800;
const NAMED = 100;
const FAR_MS = 2 ** 31 - 1;
// No event tells that a run was removed: while panes are looked at, a handful is asked for again so often, all in turn.
const LOOKED_AGAIN_MS = 10_000;

const known = new Map<string, Signal<Pane>>();
const changed = new Set<string>();
let watchers = 0;
let cursor: string | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let stallTimer: ReturnType<typeof setTimeout> | undefined;
let last = 0;
let reading = false;
let turn = 0;

/** The pane of a run, as long as it is known. Whoever draws it is drawn anew when it changes or becomes known. */
export function pane(runId: string): Pane | undefined {
  const found = known.get(runId);
  if (found === undefined) changes.value;
  return found?.value;
}

/** Every known pane as it is now, in no order. */
export function panes(): Pane[] {
  return [...known.values()].map((one) => one.peek());
}

/** Keep them up to date. Returns how to stop. */
export function keepPanes(): () => void {
  const stopListening = listen((batch) => {
    for (const { event } of batch) changed.add(event.run_id);
    plan();
  });
  const stopCatching = catches.subscribe(() => void reload());
  return () => {
    stopListening();
    stopCatching();
    clearTimeout(timer);
    clearTimeout(stallTimer);
    timer = undefined;
  };
}

/** Show them: while somebody does, they are read often, and the newest runs that are over are there, too. */
export function watchPanes(): () => void {
  watchers += 1;
  if (older.value === "unread") void tried(async () => void (await readNewest()));
  if (timer !== undefined) {
    clearTimeout(timer);
    timer = undefined;
  }
  plan();
  const again = setInterval(lookAgain, LOOKED_AGAIN_MS);
  return () => {
    clearInterval(again);
    watchers -= 1;
  };
}

/** Read everything anew; what is no longer there goes. */
export function reload(): Promise<void> {
  return tried(async () => {
    const before = [...known.keys()];
    const found = new Set([
      ...(await readAll({ status: ALIVE, limit: 1_000 })),
      ...(await readPage({ status: "failed", attention: true, limit: FIRST })).ids,
      ...(watchers > 0 ? await readNewest() : []),
    ]);
    for (const id of before) if (!found.has(id)) changed.add(id);
    plan();
  });
}

/** Read the runs that a filter asks for, which may be older than all that are known. */
export function wantPanes(query: Query): Promise<void> {
  return tried(async () => {
    await readPage({ ...query, limit: FIRST });
  });
}

/** Read the next page of runs that are over. */
export function readOlder(): Promise<void> {
  return tried(async () => {
    await readNext();
  });
}

async function readNewest(): Promise<string[]> {
  cursor = null;
  const first = await readNext(FIRST);
  return cursor === null ? first : [...first, ...(await readNext())];
}

async function readNext(limit = PAGE): Promise<string[]> {
  const { ids, next } = await readPage(cursor === null ? { limit } : { limit, cursor });
  cursor = next;
  older.value = next === null ? "none" : "more";
  return ids;
}

async function readAll(query: Query): Promise<string[]> {
  const found: string[] = [];
  let next: string | null = null;
  do {
    const page: { ids: string[]; next: string | null } = await readPage(
      next === null ? query : { ...query, cursor: next },
    );
    found.push(...page.ids);
    next = page.next;
  } while (next !== null);
  return found;
}

async function readPage(query: Query): Promise<{ ids: string[]; next: string | null }> {
  const page = await get<List<Pane>>("panes", query);
  take(page.data);
  return { ids: page.data.map((one) => one.run_id), next: page.next_cursor };
}

async function tried(deed: () => Promise<void>): Promise<void> {
  try {
    await deed();
    failure.value = null;
  } catch (wrong) {
    // Whatever was missed is read when the link is back.
    failure.value = wrong;
  }
}

function lookAgain(): void {
  if (document.hidden) return;
  const all = [...known.keys()];
  for (let nth = 0; nth < Math.min(NAMED, all.length); nth += 1) {
    const id = all[(turn + nth) % all.length];
    if (id !== undefined) changed.add(id);
  }
  turn = all.length === 0 ? 0 : (turn + NAMED) % all.length;
  plan();
}

function plan(): void {
  if (changed.size === 0 || timer !== undefined || reading) return;
  const pace = watchers > 0 && !document.hidden ? SHOWN_MS : ASIDE_MS;
  timer = setTimeout(() => void readChanged(), Math.max(0, last + pace - Date.now()));
}

async function readChanged(): Promise<void> {
  timer = undefined;
  reading = true;
  last = Date.now();
  const wanted = [...changed].slice(0, NAMED);
  for (const id of wanted) changed.delete(id);
  await tried(async () => {
    const page = await get<List<Pane>>("panes", { run_id: wanted.join(","), limit: NAMED });
    const found = new Set(page.data.map((one) => one.run_id));
    // Removed since: by a person, or because it was kept long enough.
    for (const id of wanted) if (!found.has(id)) known.delete(id);
    take(page.data);
  });
  reading = false;
  plan();
}

function take(fresh: readonly Pane[]): void {
  for (const one of fresh) {
    const place = known.get(one.run_id);
    if (place === undefined) known.set(one.run_id, signal(one));
    // What was asked for earlier may come later.
    else if (place.peek().head_sequence <= one.head_sequence) place.value = one;
  }
  changes.value += 1;
  watchStalls();
}

/** No event tells that nothing happens: whoever would stall next is looked at again when it would. */
function watchStalls(): void {
  clearTimeout(stallTimer);
  let next = Number.POSITIVE_INFINITY;
  for (const one of known.values()) {
    const { stalls_at, stalled } = one.peek();
    if (stalls_at !== null && !stalled) next = Math.min(next, Date.parse(stalls_at));
  }
  if (!Number.isFinite(next)) return;
  const wait = Math.min(FAR_MS, Math.max(1_000, next - Date.now() + 500));
  stallTimer = setTimeout(() => {
    const now = Date.now();
    for (const [id, one] of known) {
      const { stalls_at, stalled } = one.peek();
      if (stalls_at !== null && !stalled && Date.parse(stalls_at) <= now) changed.add(id);
    }
    if (changed.size > 0) plan();
    else watchStalls();
  }, wait);
}
