/** What a tool printed, as a terminal shows it. */
import { ansi } from "./ansi";
import "./printed.css";

export interface Piece {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

export function Printed({ pieces, label }: { pieces: readonly Piece[]; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
    <section class="draw-printed" aria-label={label} tabIndex={0}>
      <pre>
        {pieces.map(({ stream, text }, place) => (
          <span key={place} class={stream}>
            {ansi(text).map((part, nth) => (
              <span key={nth} dangerouslySetInnerHTML={{ __html: part }} />
            ))}
          </span>
        ))}
      </pre>
    </section>
  );
}
