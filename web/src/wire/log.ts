/** One run's log: all of it that is stored, then what comes. It sees holes by itself and fills them. */
import { ask } from "./api";
import { address } from "./base";
import { type Told, tell } from "./events";
import { catches, listen } from "./live";

export interface LogHeard {
  /** Some events, in order, none left out, none twice. */
  events(batch: readonly Told[]): void;
  /** Everything that is stored has been told; live events follow. */
  caughtUp(): void;
  /** Reading failed; it is tried again when the link is back. */
  failed(failure: unknown): void;
}

// So much is folded before the page may draw and listen to keys again.
const SLICE_MS = 30;

/** Follow a run from its first event. Returns how to stop. */
export function followRun(runId: string, heard: LogHeard): () => void {
  const stop = new AbortController();
  let head = -1;
  let reading: Promise<void> | null = null;
  let again = false;

  const take = (batch: readonly Told[]) => {
    const fresh = batch.filter(({ event }) => event.sequence > head);
    const last = fresh.at(-1);
    if (last === undefined) return;
    head = last.event.sequence;
    heard.events(fresh);
  };
  const read = () => {
    if (reading !== null) {
      again = true;
      return;
    }
    reading = readAfter(runId, head, take, stop.signal)
      .then(() => heard.caughtUp())
      .catch((failure: unknown) => {
        if (!stop.signal.aborted) heard.failed(failure);
      })
      .finally(() => {
        reading = null;
        if (again && !stop.signal.aborted) {
          again = false;
          read();
        }
      });
  };
  const stopListening = listen((all) => {
    const batch = all.filter(({ event }) => event.run_id === runId && event.sequence > head);
    const first = batch[0];
    if (first === undefined) return;
    // While the store is being read, or after a hole, the store tells: it has everything in order.
    if (reading !== null || first.event.sequence !== head + 1) read();
    else take(batch);
  });
  // Reads at once, and again whenever the link has been lost and is back.
  const stopCatching = catches.subscribe(read);
  return () => {
    stop.abort();
    stopListening();
    stopCatching();
  };
}

/** Read all stored events past a sequence, in order, a piece at a time; the page is drawn in between. */
export async function readAfter(
  runId: string,
  after: number,
  take: (batch: readonly Told[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const url = address(`runs/${encodeURIComponent(runId)}/events`, { after_sequence: after });
  const answer = await ask("GET", url, { headers: { accept: "application/x-ndjson" }, signal });
  if (answer.body === null) return;
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let sliced = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
    rest = done ? "" : (lines.pop() ?? "");
    take(lines.map(tell).filter((told) => told !== null));
    if (done) return;
    if (performance.now() - sliced > SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      sliced = performance.now();
    }
  }
}
