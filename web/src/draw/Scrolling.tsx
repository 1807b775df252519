/** A part that scrolls by itself: the keyboard reaches it and it has a name, but it is no landmark of the page. */
import type { ComponentChildren, Ref } from "preact";

export function Scrolling(props: {
  label: string;
  class: string;
  box?: Ref<HTMLDivElement>;
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <div ref={props.box ?? null} role="group" class={props.class} aria-label={props.label} tabIndex={0}>
      {props.children}
    </div>
  );
}
