/** Asks for the token when the gateway wants one. */
import { useState } from "preact/hooks";
import { get, locked } from "../wire/api";
import { dropToken, keepToken, token } from "../wire/token";

export function Unlock() {
  const [typed, setTyped] = useState("");
  const [refused, setRefused] = useState(false);
  const unlock = async (event: Event) => {
    event.preventDefault();
    keepToken(typed);
    try {
      await get("runs", { limit: 1 });
      locked.value = false;
    } catch {
      dropToken();
      setRefused(true);
    }
  };
  return (
    <main class="unlock">
      <h1>Runwire</h1>
      {token() !== null && !refused && (
        <p role="alert" class="trouble">
          The gateway no longer takes the token that this browser has: it was revoked, or it is past its time.
        </p>
      )}
      <p>
        This gateway asks for a token. <code>runwire up</code> prints an address that carries it; open that, or put the
        token here.
      </p>
      <form onSubmit={unlock}>
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
            required
          />
        </label>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
      {refused && (
        <p role="alert" class="trouble">
          The gateway does not take this token. <code>runwire token create --name NAME</code> makes another.
        </p>
      )}
    </main>
  );
}
