/** What went wrong, then what to do. */
import { upright } from "../text/harmless";
import { Refusal } from "../wire/api";

export function Trouble({ failure }: { failure: unknown }) {
  const message = failure instanceof Error ? failure.message : String(failure);
  return (
    <div class="trouble" role="alert">
      <strong>{upright(message)}</strong>
      {failure instanceof Refusal && failure.hint !== "" && <p>{failure.hint}</p>}
    </div>
  );
}
