/** How the run ended. */

import type { End } from "../fold/blocks";
import { dollars, duration } from "../text/words";
import { type CardProps, Frame, type Level } from "./Frame";

const LOOKS: Record<End["state"], { mark: string; name: string; level: Level }> = {
  completed: { mark: "✓", name: "Completed", level: "good" },
  failed: { mark: "✕", name: "Failed", level: "bad" },
  cancelled: { mark: "■", name: "Cancelled", level: "warn" },
};

export function EndCard(props: CardProps<End>) {
  const { state, text, turns, costMicrosUsd, durationMs } = props.block;
  const facts = [
    turns !== null && `${turns} ${turns === 1 ? "turn" : "turns"}`,
    costMicrosUsd !== null && dollars(costMicrosUsd),
    durationMs !== null && duration(durationMs),
  ];
  return <Frame {...props} {...LOOKS[state]} title={text} facts={<span>{facts.filter(Boolean).join(" · ")}</span>} />;
}
