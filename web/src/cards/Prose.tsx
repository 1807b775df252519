/** What the agent says, and what it thinks. */

import { Finished } from "../draw/Finished";
import { Live } from "../draw/Live";
import type { Prose } from "../fold/blocks";
import { oneLine } from "../text/harmless";
import { type CardProps, Frame } from "./Frame";

export function ProseCard(props: CardProps<Prose>) {
  const { block } = props;
  const thinking = block.kind === "thinking";
  return (
    <Frame
      {...props}
      mark={thinking ? "…" : "◆"}
      name={thinking ? "Thinking" : "Agent"}
      title={thinking ? firstLine(block.text) : ""}
      facts={block.broken ? <span class="card-fact bad">broken off</span> : block.open && <span>writing…</span>}
      openAtFirst={!thinking}
      body={() => (block.open ? <Live text={block.text} /> : <Finished text={block.text} />)}
    />
  );
}

function firstLine(text: string): string {
  return oneLine(text.slice(0, 160).trim().split("\n", 1)[0] ?? "");
}
