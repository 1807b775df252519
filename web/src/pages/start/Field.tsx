/** One field of the form: its name, what it is for, and what is wrong with it. */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

/** What a field hands to its control, so that name, explanation and problem belong together for everybody. */
export interface Wires {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
}

export function Field(props: {
  label: string;
  about?: ComponentChildren;
  problem?: string | undefined;
  children: (wires: Wires) => JSX.Element;
}) {
  const id = useId();
  const isWrong = props.problem !== undefined;
  const described = [props.about !== undefined && `${id}-about`, isWrong && `${id}-problem`].filter(Boolean).join(" ");
  return (
    <div class={isWrong ? "start-field wrong" : "start-field"}>
      <label for={id}>{props.label}</label>
      {props.children({ id, "aria-describedby": described || undefined, "aria-invalid": isWrong })}
      {props.about !== undefined && (
        <p class="start-about" id={`${id}-about`}>
          {props.about}
        </p>
      )}
      {isWrong && (
        <p class="start-problem" id={`${id}-problem`}>
          {props.problem}
        </p>
      )}
    </div>
  );
}
