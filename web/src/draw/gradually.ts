/** Draws what has many parts over several frames, so that the page answers in between. */
import { useEffect, useState } from "preact/hooks";

const AT_ONCE = 2;

/** How many of the parts to draw now: those that cost nothing any more and a few others at once, then one more a frame. */
export function useGradually(count: number, made: number): number {
  const [shown, setShown] = useState(Math.max(AT_ONCE, made));
  useEffect(() => {
    if (shown >= count) return;
    const frame = requestAnimationFrame(() => setShown(shown + 1));
    return () => cancelAnimationFrame(frame);
  }, [shown, count]);
  return Math.min(shown, count);
}
