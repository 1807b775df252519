/** The answer to a question that waits: approve, approve with another input, or deny. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../parts/keys";
import { sayFailure } from "../parts/toast";
import { answer } from "../wire/approvals";
import type { Answer, Approval, Scope } from "../wire/resources/decisions";
import { begunOf, goOn, type Mode } from "./begun";
import { DenyForm } from "./DenyForm";
import { type Draft, InputEditor } from "./InputEditor";
import { Offered } from "./Offered";
import { usePreview } from "./preview";
import { nextScope, Scopes } from "./Scopes";

export function Answering(props: {
  of: Approval;
  active: boolean;
  /** What had the focus is gone: somebody who has no mouse must find it again. */
  onFocusLost: () => void;
}) {
  const { of } = props;
  const { mode } = begunOf(of.approval_id).value;
  const [busy, setBusy] = useState(false);
  // A form takes the focus when somebody opens it, and not when a list brings it back.
  const opened = useRef(false);
  const turn = (next: Mode) => {
    opened.current = true;
    goOn(of.approval_id, { mode: next });
    if (next === "look") props.onFocusLost();
  };
  const send = async (given: Answer) => {
    setBusy(true);
    goOn(of.approval_id, { sent: true });
    try {
      await answer(of.approval_id, given);
    } catch (failure) {
      goOn(of.approval_id, { sent: false });
      sayFailure(failure);
    }
    setBusy(false);
    props.onFocusLost();
  };
  if (mode === "deny")
    return <DenyForm of={of} busy={busy} focus={opened.current} onBack={() => turn("look")} onSend={send} />;
  if (of.needs_person)
    return <Offered of={of} busy={busy} active={props.active} onDeny={() => turn("deny")} onSend={send} />;
  return <Approving {...props} mode={mode} busy={busy} focus={opened.current} onMode={turn} onSend={send} />;
}

function Approving(props: {
  of: Approval;
  mode: Mode;
  active: boolean;
  busy: boolean;
  focus: boolean;
  onMode: (mode: Mode) => void;
  onSend: (given: Answer) => void;
}) {
  const { of, onMode } = props;
  const editing = props.mode === "edit";
  const begun = begunOf(of.approval_id).value;
  const { scope: chosen, comment } = begun;
  const draft = begun.draft ?? { value: of.input, wrong: "" };
  const setDraft = (next: Draft) => goOn(of.approval_id, { draft: next });
  const setChosen = (next: Scope) => goOn(of.approval_id, { scope: next });
  const preview = usePreview(of, editing && draft.wrong === "" ? draft.value : null);
  const scope = preview.grants[chosen].granted ? chosen : "once";
  const editor = useRef<HTMLDivElement>(null);
  // A rule that has not been seen may not be made: an edit that reaches further waits until its rule is shown.
  const ready = !props.busy && draft.wrong === "" && preview.refusal === null && (scope === "once" || !preview.stale);
  const approve = () => {
    if (!ready) return;
    props.onSend({
      decision: "approved",
      scope,
      ...(comment.trim() === "" ? {} : { comment: comment.trim() }),
      ...(editing ? { edited_input: draft.value } : {}),
    });
  };
  const edit = () => {
    goOn(of.approval_id, { draft: null });
    onMode("edit");
  };
  const keyed = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      // Leaves the editor, and not the dialog around it.
      event.preventDefault();
      onMode("look");
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) approve();
  };
  useEffect(() => {
    if (editing && props.focus) editor.current?.querySelector("textarea")?.focus();
  }, [editing]);
  useDecisionKeys(props.active && !editing, {
    approve,
    deny: () => onMode("deny"),
    edit: of.editable ? edit : undefined,
    scope: () => setChosen(nextScope(preview.grants, scope)),
  });
  return (
    <div class="decide-answer">
      {editing && (
        // biome-ignore lint/a11y/noStaticElementInteractions: keys of the fields within it
        <div ref={editor} onKeyDown={keyed}>
          <InputEditor draft={draft} onDraft={setDraft} />
          {preview.refusal !== null && (
            <p class="decide-wrong" role="alert">
              {preview.refusal.message} {preview.refusal.hint}
            </p>
          )}
        </div>
      )}
      <Scopes grants={preview.grants} chosen={scope} onChoose={setChosen} stale={preview.stale} />
      {editing && (
        <label class="decide-comment">
          A word for the log (optional)
          <input value={comment} onInput={(event) => goOn(of.approval_id, { comment: event.currentTarget.value })} />
        </label>
      )}
      <div class="decide-buttons">
        <button type="button" class="primary" disabled={!ready} onClick={approve}>
          {editing ? "Approve the changed input" : "Approve"}
        </button>
        {editing ? (
          <button type="button" onClick={() => onMode("look")}>
            Back
          </button>
        ) : (
          <button type="button" disabled={!of.editable} title={of.not_editable ?? undefined} onClick={edit}>
            Edit…
          </button>
        )}
        <button type="button" class="danger" onClick={() => onMode("deny")}>
          Deny…
        </button>
        {!of.editable && of.not_editable !== null && <span class="decide-soft">{of.not_editable}</span>}
      </div>
    </div>
  );
}

function useDecisionKeys(
  on: boolean,
  acts: { approve: () => void; deny: () => void; edit: (() => void) | undefined; scope: () => void },
): void {
  // The keys stay the same while what they do changes with every drawing.
  const now = useRef(acts);
  now.current = acts;
  const group = "Decide";
  useKeys(
    on
      ? [
          { keys: "y", about: "Approve the marked question", group, act: () => now.current.approve() },
          { keys: "n", about: "Deny it, with a reason", group, act: () => now.current.deny() },
          { keys: "e", about: "Edit its input, then approve", group, act: () => now.current.edit?.() },
          { keys: "s", about: "Choose how far an approval reaches", group, act: () => now.current.scope() },
        ]
      : [],
    [on],
  );
}
