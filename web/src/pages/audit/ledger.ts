/** What is shown of the audit: the newest facts that fit, read as they come, no more than a page can hold. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Query } from "../../wire/base";
import { catches, listen } from "../../wire/live";
import { Account, type Accounted } from "./account";
import { facts } from "./reading";

export interface Ledger {
  /** Oldest first. */
  readonly rows: readonly Accounted[];
  /** How many older ones were let go. */
  readonly left: number;
  readonly busy: boolean;
  readonly failure: unknown;
}

// More rows than anybody reads; a file takes them all.
const KEPT = 5_000;
// New facts are looked for this long after the first event that may be one.
const GATHER_MS = 500;

const NOTHING: Ledger = { rows: [], left: 0, busy: true, failure: null };

/** Read what fits the query, then follow it. `name` changes whenever the query means something else. */
export function useLedger(name: string, query: () => Query): Ledger {
  const [ledger, setLedger] = useState<Ledger>(NOTHING);
  const ask = useRef(query);
  ask.current = query;
  useEffect(() => {
    setLedger(NOTHING);
    return follow(ask.current(), (change) => setLedger(change));
  }, [name]);
  return ledger;
}

function follow(query: Query, set: (change: (before: Ledger) => Ledger) => void): () => void {
  const stop = new AbortController();
  const account = new Account();
  let cursor: string | undefined;
  let isReading = false;
  let again = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (isReading) {
      again = true;
      return;
    }
    isReading = true;
    try {
      for await (const page of facts(query, cursor, stop.signal)) {
        cursor = page.cursor;
        const rows = page.entries.map((entry) => account.take(entry));
        if (!stop.signal.aborted) set((before) => grown(before, rows, !page.isEnd));
      }
    } catch (failure) {
      if (!stop.signal.aborted) set((before) => ({ ...before, busy: false, failure }));
    }
    isReading = false;
    if (again && !stop.signal.aborted) {
      again = false;
      void read();
    }
  };
  const stopListening = listen(() => {
    timer ??= setTimeout(() => void read(), GATHER_MS);
  });
  // Reads at once, and again whenever the link was lost and is back.
  const stopCatching = catches.subscribe(() => void read());
  return () => {
    stop.abort();
    clearTimeout(timer);
    stopListening();
    stopCatching();
  };
}

function grown(before: Ledger, more: readonly Accounted[], busy: boolean): Ledger {
  if (more.length === 0 && before.busy === busy && before.failure === null) return before;
  const rows = more.length === 0 ? before.rows : [...before.rows, ...more];
  const over = Math.max(0, rows.length - KEPT);
  return { rows: over > 0 ? rows.slice(over) : rows, left: before.left + over, busy, failure: null };
}
