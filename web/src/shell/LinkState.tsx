/** Whether what is shown is what is: live, catching up, or cut off; and for a moment that we have caught up again. */
import { useEffect, useState } from "preact/hooks";
import { catches, link } from "../wire/live";

const SAID_MS = 4_000;
const WORDS = { connecting: "Connecting…", live: "Live", behind: "Reconnecting…" };

export function LinkState() {
  const [caughtUp, setCaughtUp] = useState(false);
  const times = catches.value;
  useEffect(() => {
    // The first time is no news.
    if (times < 2) return;
    setCaughtUp(true);
    const timer = setTimeout(() => setCaughtUp(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [times]);
  const said = caughtUp && link.value === "live" ? "Caught up" : WORDS[link.value];
  return (
    <span class={`link ${link.value}`} role="status">
      {said}
    </span>
  );
}
