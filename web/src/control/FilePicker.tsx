/** Chooses files that go with what is said, and lists those that were chosen. */
import { bytes } from "../text/words";
import { type Attachment, attach } from "./attaching";
import "./control.css";

export function FilePicker(props: {
  chosen: readonly Attachment[];
  onChosen: (chosen: readonly Attachment[]) => void;
  /** What is wrong with the files that were just chosen; nothing when they were taken. */
  onProblem: (problem: string | undefined) => void;
  id?: string;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: boolean;
}) {
  const { chosen, onChosen, onProblem, ...wires } = props;
  const take = async (input: HTMLInputElement) => {
    try {
      onChosen(await attach(chosen, input.files ?? []));
      onProblem(undefined);
    } catch (problem) {
      onProblem(problem instanceof Error ? problem.message : String(problem));
    }
    input.value = "";
  };
  return (
    <>
      <input {...wires} type="file" name="attachments" multiple onChange={(event) => void take(event.currentTarget)} />
      {chosen.length > 0 && (
        <ul class="control-files">
          {chosen.map((one, index) => (
            <li key={`${index} ${one.name}`}>
              {one.name} <span class="control-soft">{bytes(one.bytes)}</span>
              <button
                type="button"
                class="quiet"
                aria-label={`Leave out ${one.name}`}
                onClick={() => onChosen(chosen.filter((other) => other !== one))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
