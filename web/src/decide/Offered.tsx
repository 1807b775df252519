/** A question that wants an answer rather than a yes: one of some choices, a text, or whole fields. */
import { useId } from "preact/hooks";
import { useKeys } from "../parts/keys";
import type { Answer, Approval } from "../wire/resources/decisions";
import { readOffer } from "./asked";
import { begunOf, goOn } from "./begun";
import { Seen } from "./Exact";
import { type Draft, InputEditor } from "./InputEditor";

export function Offered(props: {
  of: Approval;
  busy: boolean;
  active: boolean;
  onDeny: () => void;
  onSend: (given: Answer) => void;
}) {
  const { of } = props;
  const offer = readOffer(of);
  const name = useId();
  const { draft, value: said } = begunOf(of.approval_id).value;
  const value = said ?? offer.value;
  const setValue = (next: string) => goOn(of.approval_id, { value: next });
  const setDraft = (next: Draft) => goOn(of.approval_id, { draft: next });
  useKeys(
    props.active ? [{ keys: "n", about: "Do not answer the marked question", group: "Decide", act: props.onDeny }] : [],
    [props.active],
  );
  const ready = !props.busy && (draft === null ? value !== "" : draft.wrong === "");
  const send = (event: Event) => {
    event.preventDefault();
    if (ready) props.onSend({ decision: "approved", edited_input: draft?.value ?? { value } });
  };
  return (
    <form class="decide-answer" onSubmit={send}>
      {draft !== null ? (
        <InputEditor draft={draft} onDraft={setDraft} />
      ) : offer.choices.length > 0 ? (
        <fieldset class="decide-scopes">
          <legend>
            <Seen text={offer.text} />
          </legend>
          <div class="decide-choices">
            {offer.choices.map((choice) => (
              <label key={choice}>
                <input type="radio" name={name} checked={choice === value} onChange={() => setValue(choice)} />
                <Seen text={choice} />
              </label>
            ))}
          </div>
        </fieldset>
      ) : (
        <label class="decide-comment">
          <Seen text={offer.text} />
          <textarea rows={2} value={value} onInput={(event) => setValue(event.currentTarget.value)} />
        </label>
      )}
      <div class="decide-buttons">
        <button type="submit" class="primary" disabled={!ready}>
          Answer
        </button>
        <button type="button" class="danger" onClick={props.onDeny}>
          Do not answer…
        </button>
        {draft === null && (
          <button type="button" class="quiet" onClick={() => setDraft({ value: of.input, wrong: "" })}>
            Answer with fields
          </button>
        )}
      </div>
    </form>
  );
}
