/** The token that proves who is looking. It comes in the fragment, once, and leaves the address at once. */

const KEY = "runwire.token";

/** Take the token out of the address, if there is one, and keep it in this browser. */
export function takeToken(): void {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found === null) return;
  keepToken(found);
  history.replaceState(null, "", location.pathname + location.search);
  // The history changes without a word, and whoever shows pages has read the fragment already.
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The kept token, or nothing. */
export function token(): string | null {
  return localStorage.getItem(KEY);
}

/** Keep a token that somebody typed; tabs that are open take it up. */
export function keepToken(value: string): void {
  localStorage.setItem(KEY, value.trim());
}

/** Forget it, because the gateway no longer takes it or because somebody leaves. */
export function dropToken(): void {
  localStorage.removeItem(KEY);
}

/** Call back when another tab keeps or drops the token. */
export function onToken(changed: () => void): () => void {
  const heard = (event: StorageEvent) => {
    if (event.key === KEY) changed();
  };
  addEventListener("storage", heard);
  return () => removeEventListener("storage", heard);
}
