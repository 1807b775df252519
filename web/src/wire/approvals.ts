/**
 * Questions to people: all that wait, and any that a page shows. They change by themselves when they are answered,
 * wherever that happens. A question that was answered never waits again.
 */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { get, post, Refusal } from "./api";
import type { Told } from "./events";
import { catches, listen } from "./live";
import type { Answer, Approval } from "./resources/decisions";
import type { List } from "./resources/runs";

/** A question; why it cannot be read; or nothing as long as it has not been read. */
export type Known = Approval | Refusal | null;

/** The ids of all that wait, those that have waited longest first. */
export const pending = signal<readonly string[]>([]);

/** Whether the waiting ones have been read at least once. */
export const pendingRead = signal(false);

const PAGE = 500;
const known = new Map<string, Signal<Known>>();

/** One question, whatever becomes of it. */
export function approval(id: string): ReadonlySignal<Known> {
  const found = known.get(id);
  if (found !== undefined) return found;
  const made = signal<Known>(null);
  known.set(id, made);
  void read(id);
  return made;
}

/** Answer a question. The first answer wins: when somebody else was first, it is refused and the question shows theirs. */
export async function answer(id: string, given: Answer): Promise<void> {
  try {
    take(await post<Approval>(`approvals/${encodeURIComponent(id)}/resolve`, given));
  } catch (failure) {
    await read(id);
    throw failure;
  }
}

/** Keep the waiting ones up to date. Returns how to stop. */
export function keepApprovals(): () => void {
  const stopListening = listen(heard);
  const stopCatching = catches.subscribe(() => void readPending());
  return () => {
    stopListening();
    stopCatching();
  };
}

function heard(batch: readonly Told[]): void {
  const changed = new Set<string>();
  for (const { event } of batch) {
    const id = event.type.startsWith("approval.") ? event.data.approval_id : undefined;
    if (typeof id === "string") changed.add(id);
  }
  for (const id of changed) void read(id);
}

async function readPending(): Promise<void> {
  const before = pending.value;
  const found = new Set<string>();
  try {
    let cursor: string | null | undefined;
    do {
      const page: List<Approval> = await get("approvals", {
        status: "pending",
        limit: PAGE,
        ...(cursor ? { cursor } : {}),
      });
      for (const one of page.data) {
        found.add(one.approval_id);
        keep(one);
      }
      cursor = page.next_cursor;
    } while (cursor);
  } catch {
    // Read anew when the link is back; the shell shows that it is not.
    return;
  }
  count();
  pendingRead.value = true;
  // What waited and does no longer was answered while nobody told us.
  for (const id of before) if (!found.has(id)) void read(id);
}

async function read(id: string): Promise<void> {
  try {
    take(await get<Approval>(`approvals/${encodeURIComponent(id)}`));
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    const place = known.get(id);
    if (place === undefined) return;
    // A broken link takes nothing away from what is known; a question that is gone is.
    if (place.value === null || place.value instanceof Refusal || failure.status === 404) place.value = failure;
    count();
  }
}

function take(fresh: Approval): void {
  keep(fresh);
  count();
}

function keep(fresh: Approval): void {
  const place = known.get(fresh.approval_id);
  if (place === undefined) known.set(fresh.approval_id, signal<Known>(fresh));
  // An answer that overtook this one is newer.
  else if (!isSettled(place.value) || fresh.status !== "pending") place.value = fresh;
}

function count(): void {
  const waiting: string[] = [];
  for (const [id, { value }] of known) {
    if (value !== null && !(value instanceof Refusal) && value.status === "pending") waiting.push(id);
  }
  waiting.sort();
  if (waiting.join() !== pending.value.join()) pending.value = waiting;
}

function isSettled(value: Known): boolean {
  return value !== null && !(value instanceof Refusal) && value.status !== "pending";
}
