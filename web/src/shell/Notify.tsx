/** Whether the browser tells when somebody is needed. */

import { useKeys } from "../parts/keys";
import { say } from "../parts/toast";
import { canNotify, notifying, wantNotifying } from "./attention";

export function Notify() {
  useKeys(
    canNotify()
      ? [{ keys: "N", about: "Browser notifications on or off", group: "Everywhere", act: () => void turn() }]
      : [],
    [],
  );
  if (!canNotify()) return null;
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={notifying.value}
      aria-label="Notify me when somebody is needed"
      title="Notify me when somebody is needed (N)"
      onClick={() => void turn()}
    >
      <Bell crossed={!notifying.value} />
    </button>
  );
}

function Bell({ crossed }: { crossed: boolean }) {
  return (
    <svg class="bell" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d="M3 12h10l-1.3-2V6.8a3.7 3.7 0 0 0-7.4 0V10z" />
      <path d="M6.6 14h2.8" />
      {crossed && <path d="M2.5 2.5l11 11" />}
    </svg>
  );
}

async function turn(): Promise<void> {
  const wanted = !notifying.value;
  const allowed = await wantNotifying(wanted);
  if (allowed) say("The browser will tell you when an agent needs somebody.");
  else if (wanted) say("The browser does not allow notifications. Its settings for this page can.", "error");
  else say("No more notifications.");
}
