/** Signed lines: what would go and what would come. The sign is a character, so that colour is not needed to read it. */
import { Scroll, Seen } from "./Exact";
import type { Line } from "./signed";

const LOOKS = { "+": "added", "-": "removed", " ": "same", "@": "place" };
const SPOKEN = { "+": "added: ", "-": "removed: ", " ": "", "@": "" };

export function Lines({ lines, label }: { lines: readonly Line[]; label: string }) {
  return (
    <Scroll label={label} rows={lines.length}>
      {lines.map(({ sign, text }, index) => (
        <span key={`${index}`} class={`decide-line ${LOOKS[sign]}`}>
          <span class="sr-only">{SPOKEN[sign]}</span>
          <span aria-hidden="true">{sign === "@" ? "" : `${sign} `}</span>
          <Seen text={text} />
          {"\n"}
        </span>
      ))}
    </Scroll>
  );
}
