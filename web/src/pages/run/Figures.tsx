/** What the run has cost over time, and the tokens of each turn. */
import { useMemo } from "preact/hooks";
import { Plot } from "../../draw/Plot";
import type { RunFold } from "../../fold/fold";
import { count, dollars } from "../../text/words";

export function Figures({ fold, grown, onTurn }: { fold: RunFold; grown: number; onTurn: (block: number) => void }) {
  const { totals, turns } = fold;
  return (
    <div class="run-figures">
      <dl class="run-totals">
        <Figure name="Turns" value={String(totals.turns)} />
        <Figure name="Input tokens" value={count(totals.inputTokens)} />
        <Figure name="of these cached" value={count(totals.cachedTokens)} />
        <Figure name="Output tokens" value={count(totals.outputTokens)} />
        <Figure name="Cost" value={dollars(totals.costMicrosUsd)} />
        {totals.budgetMicrosUsd !== null && <Figure name="Budget" value={dollars(totals.budgetMicrosUsd)} />}
      </dl>
      <CostPlot fold={fold} grown={grown} />
      <TokenPlot fold={fold} grown={grown} onPick={(place) => onTurn(turns[place]?.index ?? -1)} />
    </div>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function CostPlot({ fold, grown }: { fold: RunFold; grown: number }) {
  // The costs grow in place, and `grown` says so.
  const drawn = useMemo(() => {
    const budget = fold.totals.budgetMicrosUsd;
    const across = { name: "Time", values: fold.costs.map(({ atMs }) => atMs), show: clock, time: true };
    const spent = {
      name: "Cost",
      values: fold.costs.map(({ micros }) => micros),
      colour: "accent",
      shape: "step",
    } as const;
    const limit = { name: "Budget", values: fold.costs.map(() => budget), colour: "bad", shape: "line" } as const;
    // A budget that is far away would press the costs flat.
    const isNear = budget !== null && fold.totals.costMicrosUsd > budget / 5;
    return { across, lines: isNear ? [spent, limit] : [spent] };
  }, [fold, grown]);
  return (
    <section>
      <h2>Cost over time</h2>
      <Plot title="Cost over time" across={drawn.across} lines={drawn.lines} show={dollars} />
    </section>
  );
}

function TokenPlot({ fold, grown, onPick }: { fold: RunFold; grown: number; onPick: (place: number) => void }) {
  // The turns change in place, and `grown` says so.
  const drawn = useMemo(() => {
    const { turns } = fold;
    const fresh = turns.map((turn) => Math.max(0, turn.inputTokens - turn.cachedTokens));
    return {
      across: { name: "Turn", values: turns.map((_, place) => place + 1), show: String, whole: true },
      lines: [
        { name: "Input, cached", values: turns.map((turn) => turn.cachedTokens), colour: "soft", shape: "bars" },
        { name: "Input, new", values: fresh, colour: "accent", shape: "bars" },
        { name: "Output", values: turns.map((turn) => turn.outputTokens), colour: "good", shape: "bars" },
      ] as const,
    };
  }, [fold, grown]);
  return (
    <section>
      <h2>Tokens per turn</h2>
      <Plot title="Tokens per turn" across={drawn.across} lines={drawn.lines} show={count} stack onPick={onPick} />
    </section>
  );
}

function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString();
}
