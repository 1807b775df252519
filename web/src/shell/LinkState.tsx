/** Whether what is shown is what is: live, catching up, or cut off; and for a moment that we have caught up again. */
import { useEffect, useRef, useState } from "preact/hooks";
import { link } from "../wire/live";

const SAID_MS = 4_000;
const WORDS = { connecting: "Connecting…", live: "Live", behind: "Reconnecting…" };

export function LinkState() {
  const [caughtUp, setCaughtUp] = useState(false);
  const wasBehind = useRef(false);
  const now = link.value;
  useEffect(() => {
    if (now === "behind") wasBehind.current = true;
    // The first time is no news.
    if (now !== "live" || !wasBehind.current) return;
    wasBehind.current = false;
    setCaughtUp(true);
    const timer = setTimeout(() => setCaughtUp(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [now]);
  const said = caughtUp && now === "live" ? "Caught up" : WORDS[now];
  return (
    <span class={`link ${now}`} role="status">
      {said}
    </span>
  );
}
