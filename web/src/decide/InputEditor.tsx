/** The input of a call, to be changed before it is allowed: field by field, or as JSON. */
import { useEffect, useId, useState } from "preact/hooks";
import { type Fields, isFields } from "./asked";

export interface Draft {
  readonly value: Fields;
  /** Why it cannot be sent as it is; empty when it can. */
  readonly wrong: string;
}

export function InputEditor({ draft, onDraft }: { draft: Draft; onDraft: (draft: Draft) => void }) {
  const [asJson, setAsJson] = useState(false);
  const [wrongs, setWrongs] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    // An editor that comes back shows the last value that was right.
    if (draft.wrong !== "") onDraft({ value: draft.value, wrong: "" });
  }, []);
  const change = (name: string, value: unknown, wrong: string) => {
    const all = { ...wrongs, [name]: wrong };
    setWrongs(all);
    onDraft({
      value: { ...draft.value, [name]: value },
      wrong: Object.values(all).find((one) => one !== "") ?? "",
    });
  };
  return (
    <div class="decide-editor">
      {asJson ? (
        <JsonField label="The input, as JSON" value={draft.value} onDraft={onDraft} />
      ) : (
        Object.keys(draft.value).map((name) => (
          <OneField
            key={name}
            name={name}
            value={draft.value[name]}
            onValue={(value, wrong) => change(name, value, wrong)}
          />
        ))
      )}
      {draft.wrong !== "" && (
        <p class="decide-wrong" role="alert">
          {draft.wrong}
        </p>
      )}
      <button type="button" class="quiet" disabled={draft.wrong !== ""} onClick={() => setAsJson(!asJson)}>
        {asJson ? "Edit field by field" : "Edit as JSON"}
      </button>
    </div>
  );
}

/** Read text that is to be a JSON object; a reason in words when it is none. */
export function readObject(text: string): Draft | string {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? { value, wrong: "" } : "This is JSON, but no object.";
  } catch (failure) {
    return `This is no JSON: ${failure instanceof Error ? failure.message : String(failure)}`;
  }
}

function OneField(props: { name: string; value: unknown; onValue: (value: unknown, wrong: string) => void }) {
  const { name, value } = props;
  const id = useId();
  // How a value is written is settled when the field is first shown: a text stays one whatever is typed into it.
  const [isText] = useState(typeof value === "string");
  const [typed, setTyped] = useState(() => (typeof value === "string" ? value : JSON.stringify(value, null, 2)));
  const change = (text: string) => {
    setTyped(text);
    if (isText) {
      props.onValue(text, "");
      return;
    }
    try {
      props.onValue(JSON.parse(text), "");
    } catch {
      props.onValue(value, `${name}: this is no JSON.`);
    }
  };
  return (
    <div class="decide-field">
      <label for={id}>
        {name}
        {!isText && <span class="decide-soft"> (JSON)</span>}
      </label>
      <Typed id={id} text={typed} onText={change} />
    </div>
  );
}

function JsonField(props: { label: string; value: Fields; onDraft: (draft: Draft) => void }) {
  const id = useId();
  const [typed, setTyped] = useState(() => JSON.stringify(props.value, null, 2));
  const change = (text: string) => {
    setTyped(text);
    const read = readObject(text);
    props.onDraft(typeof read === "string" ? { value: props.value, wrong: read } : read);
  };
  return (
    <div class="decide-field">
      <label for={id}>{props.label}</label>
      <Typed id={id} text={typed} onText={change} />
    </div>
  );
}

function Typed(props: { id: string; text: string; onText: (text: string) => void }) {
  return (
    <textarea
      id={props.id}
      class="decide-typed"
      rows={rowsOf(props.text)}
      spellcheck={false}
      autocomplete="off"
      value={props.text}
      onInput={(event) => props.onText(event.currentTarget.value)}
    />
  );
}

function rowsOf(text: string): number {
  return Math.min(16, Math.max(1, text.split("\n").length, Math.ceil(text.length / 70)));
}
