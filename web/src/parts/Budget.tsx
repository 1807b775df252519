/** What was spent, beside what may be. */
import { dollars } from "../text/words";

export function Budget({ spent, budget }: { spent: number; budget: number | null }) {
  if (budget === null) return <span class="budget">{dollars(spent)}</span>;
  const share = budget === 0 ? 1 : Math.min(1, spent / budget);
  const level = share >= 1 ? "over" : share >= 0.8 ? "near" : "fine";
  return (
    <span class={`budget ${level}`}>
      <meter min={0} max={1} low={0.8} high={0.999} optimum={0} value={share} aria-label="Budget used" />
      {dollars(spent)} of {dollars(budget)}
    </span>
  );
}
