/** The patches of a run, oldest first, as they stand now: read again whenever the run tells of a change. */
import { useEffect, useState } from "preact/hooks";
import { get } from "../../wire/api";
import { catches, listen } from "../../wire/live";
import type { List } from "../../wire/resources/runs";
import type { Artifact } from "../../wire/resources/work";

const PAGE = 1_000;
const TELLING = /^(tool\.(edit|multi_edit|file|file_write)\.|artifact\.)/;

export interface Patches {
  /** Nothing until they have been read. */
  readonly all: readonly Artifact[] | null;
  readonly failure: unknown;
  readonly readAgain: () => void;
}

export function usePatches(runId: string): Patches {
  const [all, setAll] = useState<readonly Artifact[] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [times, setTimes] = useState(0);
  const readAgain = () => setTimes((before) => before + 1);
  useEffect(() => {
    const stop = listen((batch) => {
      if (batch.some(({ event }) => event.run_id === runId && TELLING.test(event.type))) readAgain();
    });
    const stopCatching = catches.subscribe(readAgain);
    return () => {
      stop();
      stopCatching();
    };
  }, [runId]);
  useEffect(() => {
    const stop = new AbortController();
    readAll(runId, stop.signal).then(
      (found) => {
        setAll(found);
        setFailure(null);
      },
      (refusal: unknown) => {
        if (!stop.signal.aborted) setFailure(refusal);
      },
    );
    return () => stop.abort();
  }, [runId, times]);
  return { all, failure, readAgain };
}

/** Patches that only take others back are left out: those say that they were reverted. */
async function readAll(runId: string, signal: AbortSignal): Promise<readonly Artifact[]> {
  const found: Artifact[] = [];
  let cursor: string | undefined;
  do {
    const query = { run_id: runId, kind: "patch", limit: PAGE, cursor };
    const page: List<Artifact> = await get<List<Artifact>>("artifacts", query, signal);
    found.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found.filter(({ inverse_of }) => inverse_of === null).reverse();
}
