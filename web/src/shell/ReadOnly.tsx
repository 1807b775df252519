/** Says that the token only lets one look, so that nobody wonders where the buttons are. */
import { isReadOnly } from "../wire/scopes";

const WHY =
  "Your token may look at everything and change nothing. `runwire token create --name NAME --scope operate` makes another.";

export function ReadOnly() {
  if (!isReadOnly.value) return null;
  return (
    <span class="link behind" title={WHY}>
      Read only<span class="sr-only">. {WHY}</span>
    </span>
  );
}

/** In place of a page that is there to do something that the token does not allow. */
export function NotAllowed() {
  return (
    <div class="trouble" role="alert">
      <strong>Your token does not allow this.</strong>
      <p>
        <code>runwire token create --name NAME --scope write</code> makes one that does.
      </p>
    </div>
  );
}
