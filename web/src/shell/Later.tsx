/** A page whose code may not be here yet. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Trouble } from "../parts/Trouble";
import type { Page } from "./pages";
import type { Place } from "./route";

const loaded = new Map<Page, ComponentType<{ place: Place }>>();

export function Later({ page, place }: { page: Page; place: Place }) {
  const [failure, setFailure] = useState<unknown>(null);
  const [, redraw] = useState(0);
  const Open = loaded.get(page);
  useEffect(() => {
    if (loaded.has(page)) return;
    page.load().then((module) => {
      loaded.set(page, module.default);
      redraw((times) => times + 1);
    }, setFailure);
  }, [page]);
  if (failure !== null) return <Trouble failure={failure} />;
  return Open === undefined ? <p class="loading">Loading…</p> : <Open place={place} />;
}
