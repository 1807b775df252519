/** What a tool printed, as a terminal shows it. Much of it is drawn over several frames, from the beginning on. */
import { ansi, ansiParts, isDrawn } from "./ansi";
import { useGradually } from "./gradually";
import { Scrolling } from "./Scrolling";
import "./printed.css";

export interface Piece {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

interface Part {
  readonly stream: Piece["stream"];
  readonly text: string;
}

export function Printed({ pieces, label }: { pieces: readonly Piece[]; label: string }) {
  // Pieces grow in place. The parts are made anew each time, so that what draws them sees that.
  const parts = pieces.flatMap(({ stream, text }) => ansiParts(text).map((part) => ({ stream, text: part })));
  return (
    <Scrolling class="draw-printed" label={label}>
      <Parts parts={parts} />
    </Scrolling>
  );
}

function Parts({ parts }: { parts: readonly Part[] }) {
  const made = parts.findIndex(({ text }) => !isDrawn(text));
  const shown = useGradually(parts.length, made === -1 ? parts.length : made);
  return (
    <pre>
      {parts.slice(0, shown).map(({ stream, text }, place) => (
        <span key={place} class={stream} dangerouslySetInnerHTML={{ __html: ansi(text) }} />
      ))}
    </pre>
  );
}
