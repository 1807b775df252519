/** A question in front of the page: the browser's own dialog, which keeps the focus and closes with Escape. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

const WRITTEN = "textarea, input:not([type=radio], [type=checkbox], [type=file])";

export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
    // Who is asked for words can write them at once.
    dialog.current?.querySelector<HTMLElement>(WRITTEN)?.focus();
  }, []);
  return (
    <dialog ref={dialog} class={props.wide ? "dialog wide" : "dialog"} aria-labelledby={id} onClose={props.onClose}>
      <header>
        <h2 id={id}>{props.title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </header>
      {props.children}
    </dialog>
  );
}
