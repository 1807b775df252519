/** A page whose code may not be here yet. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Place } from "../parts/route";
import { catches } from "../wire/live";
import type { Page } from "./pages";

const loaded = new Map<Page, ComponentType<{ place: Place }>>();

export function Later({ page, place }: { page: Page; place: Place }) {
  const [failure, setFailure] = useState<unknown>(null);
  const [, redraw] = useState(0);
  const Open = loaded.get(page);
  const times = catches.value;
  useEffect(() => {
    if (loaded.has(page)) return;
    // Tried again when the gateway is back.
    page.load().then((module) => {
      loaded.set(page, module.default);
      setFailure(null);
      redraw((drawn) => drawn + 1);
    }, setFailure);
  }, [page, times]);
  if (failure !== null) return <Renewed />;
  return Open === undefined ? <p class="loading">Loading…</p> : <Open place={place} />;
}

/** The names of its files change with every release, so a page that was opened before may ask for one that is gone. */
function Renewed() {
  return (
    <div class="trouble" role="alert">
      <strong>This page could not be loaded.</strong>
      <p>The gateway is away, or a newer release has taken its place.</p>
      <button type="button" onClick={() => location.reload()}>
        Load the console anew
      </button>
    </div>
  );
}
