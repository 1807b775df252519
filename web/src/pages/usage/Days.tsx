/** Usage day by day, as bars: money, or tokens by what they were. */
import { type Line, Plot } from "../../draw/Plot";
import { count, dollars } from "../../text/words";
import type { UsageRow } from "../../wire/resources/accounts";
import { everyDay } from "./sums";

export type Shown = "cost" | "tokens";

export function Days({ rows, shown }: { rows: readonly UsageRow[]; shown: Shown }) {
  const days = everyDay(rows);
  const across = {
    name: "Day",
    values: days.map((_, index) => index),
    show: (index: number) => days[index]?.group ?? "",
    whole: true,
  };
  return (
    <Plot
      title={shown === "cost" ? "Cost by day" : "Tokens by day"}
      across={across}
      lines={shown === "cost" ? costs(days) : tokens(days)}
      show={shown === "cost" ? dollars : count}
      stack={shown === "tokens"}
      height={220}
    />
  );
}

function costs(days: readonly UsageRow[]): readonly Line[] {
  return [{ name: "Cost", colour: "accent", shape: "bars", values: days.map((day) => day.cost_micros_usd) }];
}

function tokens(days: readonly UsageRow[]): readonly Line[] {
  const fresh = (day: UsageRow) => Math.max(0, day.input_tokens - day.cached_input_tokens);
  return [
    { name: "Input", colour: "accent", shape: "bars", values: days.map(fresh) },
    { name: "Cached input", colour: "soft", shape: "bars", values: days.map((day) => day.cached_input_tokens) },
    { name: "Output", colour: "warn", shape: "bars", values: days.map((day) => day.output_tokens) },
  ];
}
