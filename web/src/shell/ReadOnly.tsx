/** Says that the token only lets one look, so that nobody has to press a button to find out. */
import { useLoaded } from "../parts/loaded";
import { get } from "../wire/api";
import { catches } from "../wire/live";
import type { About } from "../wire/resources/work";

const WHY =
  "Your token may look at everything and change nothing. `runwire token create --scope operate` makes another.";

export function ReadOnly() {
  const about = useLoaded((signal) => get<About>("about", {}, signal), [catches.value]);
  if (about.value === null || about.value.scopes.some((scope) => scope !== "read")) return null;
  return (
    <span class="link behind" title={WHY}>
      Read only<span class="sr-only">. {WHY}</span>
    </span>
  );
}
