/** Says that runs are a demonstration, and removes it in one click, or makes it anew; offers one where nothing has run. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { say, sayFailure } from "../parts/toast";
import { get, post, remove } from "../wire/api";
import { catches, refresh } from "../wire/live";
import type { Demo } from "../wire/resources/work";
import { may } from "../wire/scopes";

const exists = signal(false);
const busy = signal(false);

export function DemoBanner() {
  const times = catches.value;
  useEffect(() => void look(), [times]);
  if (!exists.value) return null;
  return (
    <aside class="demo" aria-label="Demonstration">
      <p>
        <strong>Demonstration.</strong> The runs marked <span class="demo-mark">demo</span> play scripts: no model is
        called and nothing is spent. They work in a folder of their own.
      </p>
      {may("operate") && (
        <button type="button" disabled={busy.value} onClick={() => void act(removeIt, "The demonstration is removed.")}>
          Remove it
        </button>
      )}
      {may("write") && (
        <button type="button" class="quiet" disabled={busy.value} onClick={() => void act(makeIt, BEGINS)}>
          Make it anew
        </button>
      )}
    </aside>
  );
}

/** For a gateway that has nothing to show. */
export function DemoOffer() {
  if (!may("write")) return null;
  return (
    <button type="button" disabled={busy.value} onClick={() => void act(makeIt, BEGINS)}>
      Show a demonstration
    </button>
  );
}

const BEGINS = "The demonstration begins.";
const makeIt = () => post<Demo>("demo");
const removeIt = () => remove("demo");

async function act(deed: () => Promise<unknown>, said: string): Promise<void> {
  busy.value = true;
  try {
    await deed();
    say(said);
  } catch (failure) {
    sayFailure(failure);
  }
  busy.value = false;
  refresh();
}

async function look(): Promise<void> {
  try {
    exists.value = (await get<Demo>("demo")).exists;
  } catch {
    // Looked for again when the link is back.
  }
}
