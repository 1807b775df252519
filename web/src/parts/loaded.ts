/** Something that is read when a page opens, and again when asked: what came, or why nothing did. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  /** What came last; it stays while it is read again. */
  readonly value: T | null;
  readonly failure: unknown;
  readonly busy: boolean;
  /** Read it again. */
  readonly again: () => void;
}

/** Read with `load` now, and whenever a dependency changes; an answer that was overtaken is dropped. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, dependencies: readonly unknown[]): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(true);
  const [times, setTimes] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const stop = new AbortController();
    setBusy(true);
    latest.current(stop.signal).then(
      (found) => {
        if (stop.signal.aborted) return;
        setValue(found);
        setFailure(null);
        setBusy(false);
      },
      (problem: unknown) => {
        if (stop.signal.aborted) return;
        setFailure(problem);
        setBusy(false);
      },
    );
    return () => stop.abort();
  }, [...dependencies, times]);
  const again = useCallback(() => setTimes((before) => before + 1), []);
  return { value, failure, busy, again };
}
