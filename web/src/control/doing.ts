/** One thing that is being done: whether it is under way, and why it failed. It is never done twice at once. */
import { useRef, useState } from "preact/hooks";

export interface Doing {
  readonly busy: boolean;
  readonly failure: unknown;
  /** Do it, unless something is under way. */
  run(act: () => Promise<void>): Promise<void>;
}

export function useDoing(): Doing {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const underWay = useRef(false);
  return {
    busy,
    failure,
    async run(act) {
      if (underWay.current) return;
      underWay.current = true;
      setBusy(true);
      setFailure(null);
      try {
        await act();
      } catch (caught) {
        setFailure(caught);
      } finally {
        underWay.current = false;
        setBusy(false);
      }
    },
  };
}

/** Ctrl+Enter (or ⌘ Enter) in a field of many lines sends its form. */
export function sendsOn(event: KeyboardEvent): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const field = event.currentTarget;
  if (!(field instanceof HTMLTextAreaElement)) return;
  event.preventDefault();
  field.form?.requestSubmit();
}
