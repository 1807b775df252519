/** Exactly what would be done, to the last character. */
import type { ComponentChildren } from "preact";
import { Scrolling } from "../draw/Scrolling";
import { visible } from "./visible";

// Roughly what is in sight at once.
const ROWS = 15;
const COLUMNS = 100;

export function Exact({ text, label }: { text: string; label: string }) {
  return (
    <Scroll label={label} rows={text.split("\n").length + Math.floor(text.length / COLUMNS)}>
      <Seen text={text} />
    </Scroll>
  );
}

/** Something long: it scrolls, also by keyboard, and says that there is more than is in sight. */
export function Scroll(props: { label: string; rows: number; children: ComponentChildren }) {
  return (
    <div>
      <Scrolling class="decide-exact" label={props.label}>
        <pre dir="ltr">{props.children}</pre>
      </Scrolling>
      {props.rows > ROWS && <p class="decide-long">Long: about {props.rows} lines. Scroll to read all of it.</p>}
    </div>
  );
}

/** The same within a line. */
export function Seen({ text }: { text: string }) {
  return (
    <>
      {visible(text).map(({ text: piece, told }, index) =>
        told ? (
          <mark key={`${index}`} class="decide-unseen" title="A character that cannot be seen">
            {piece}
          </mark>
        ) : (
          piece
        ),
      )}
    </>
  );
}
