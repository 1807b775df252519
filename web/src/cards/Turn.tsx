/** Where a turn begins: the model, what it read and wrote, what it cost. */

import type { Turn } from "../fold/blocks";
import { count, dollars, duration, modelName } from "../text/words";
import { type CardProps, Facts } from "./Frame";

export function TurnCard(props: CardProps<Turn>) {
  const { block } = props;
  const facts: string[] = [];
  if (block.model !== null) facts.push(modelName(block.model));
  if (block.inputTokens + block.outputTokens > 0) {
    const cached = block.cachedTokens > 0 ? ` (${count(block.cachedTokens)} cached)` : "";
    facts.push(`${count(block.inputTokens)} in${cached}`, `${count(block.outputTokens)} out`);
  }
  if (block.costMicrosUsd > 0) facts.push(dollars(block.costMicrosUsd));
  if (block.durationMs !== null) facts.push(duration(block.durationMs));
  return (
    <div class={`card-turn ${block.state}`}>
      <h2>Turn {block.turn + 1}</h2>
      <span class="card-turn-facts">{facts.join(" · ")}</span>
      {block.state === "failed" && <span class="card-fact bad">failed{block.error && `: ${block.error}`}</span>}
      <Facts {...props} />
    </div>
  );
}
