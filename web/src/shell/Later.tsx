/** A page whose code may not be here yet. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Place } from "../parts/route";
import { catches } from "../wire/live";
import type { Page } from "./pages";
import { isRenewed } from "./renewed";

const loaded = new Map<Page, ComponentType<{ place: Place }>>();

export function Later({ page, place }: { page: Page; place: Place }) {
  const [missing, setMissing] = useState<"renewed" | "away" | null>(null);
  const [, redraw] = useState(0);
  const Open = loaded.get(page);
  const times = catches.value;
  useEffect(() => {
    if (loaded.has(page)) return;
    // Tried again when the gateway is back.
    page.load().then(
      (module) => {
        loaded.set(page, module.default);
        setMissing(null);
        redraw((drawn) => drawn + 1);
      },
      async () => setMissing((await isRenewed()) ? "renewed" : "away"),
    );
  }, [page, times]);
  if (missing !== null) return <Missing isRenewed={missing === "renewed"} />;
  return Open === undefined ? <p class="loading">Loading…</p> : <Open place={place} />;
}

function Missing(props: { isRenewed: boolean }) {
  return (
    <div class="trouble" role="alert">
      <strong>{props.isRenewed ? "The console has been renewed." : "This page could not be loaded."}</strong>
      <p>
        {props.isRenewed
          ? "What is open here is of an earlier release, whose other pages are gone."
          : "The gateway is away. The page comes by itself when it is back."}
      </p>
      <button type="button" onClick={() => location.reload()}>
        Load again
      </button>
    </div>
  );
}
