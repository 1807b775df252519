/** Which page is open: kept in the fragment, so that it works below any prefix and can be sent to somebody. */
import { computed, signal } from "@preact/signals";

/** Where we are: `runs/run_1?at=12` is path ["runs", "run_1"] and query at=12. */
export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const fragment = signal(location.hash);
addEventListener("hashchange", () => {
  fragment.value = location.hash;
});

/** The open place. */
export const place = computed(() => parse(fragment.value));

/** The link to a place, for an anchor. */
export function to(path: string, query: Record<string, string | number | undefined> = {}): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") words.set(name, String(value));
  }
  const tail = words.toString();
  return `#/${path}${tail === "" ? "" : `?${tail}`}`;
}

/** Go there, and let the way back lead here. */
export function go(path: string, query: Record<string, string | number | undefined> = {}): void {
  location.hash = to(path, query);
}

/** Change the query of the open place without a new step in the history. */
export function refine(query: Record<string, string | number | undefined>): void {
  const { path, query: known } = place.value;
  const link = to(path.map(encodeURIComponent).join("/"), { ...Object.fromEntries(known), ...query });
  history.replaceState(null, "", link);
  fragment.value = link;
}

function parse(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
