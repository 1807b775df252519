/** Events that become one remark each, in the words of the terminal. */
import type { EventDataByType, EventType } from "@protocol";
import { dollars } from "../text/words";
import type { Note } from "./blocks";

export type Remark = readonly [level: Note["level"], text: string];

type Remarks = { readonly [T in EventType]?: (said: EventDataByType[T]) => Remark | null };

// How the error of a line begins that was understood, and came when everything was over.
const LATE = "late: ";

/** What to say about an event; nothing about one that is of no use to a person. */
export const REMARKS: Remarks = {
  "agent.unparsed": ({ raw, error }) =>
    error.startsWith(LATE) ? null : ["warning", `not understood: ${raw} (${error})`],
  "cost.budget_warning": (said) => [
    "warning",
    `${said.threshold_pct} % of the budget is spent: ${dollars(said.cumulative_cost_micros_usd)} of ` +
      dollars(said.task_budget_micros_usd),
  ],
  "cost.budget_exceeded": (said) => [
    "error",
    `the budget is spent: ${dollars(said.cumulative_cost_micros_usd)} of ` +
      `${dollars(said.task_budget_micros_usd)}; ${said.action}`,
  ],
  "error.upstream": (said) => {
    const { provider, status, message, retriable, attempt, max_attempts: most } = said;
    const then = retriable && most > 1 ? `; attempt ${attempt} of ${most}` : "";
    const level = retriable && attempt < most ? "warning" : "error";
    return [level, `${provider}${status === null ? "" : ` ${status}`}: ${message}${then}`];
  },
  "error.tool_unavailable": ({ tool_name, reason }) => ["warning", `${tool_name} is not available: ${reason}`],
  "error.model_capability_missing": ({ model, missing_capability, fallback_strategy }) => [
    "warning",
    `${model} has no ${missing_capability}${fallback_strategy ? `; ${fallback_strategy} instead` : ""}`,
  ],
  "gap.events_pruned": ({ first_pruned_sequence: first, last_pruned_sequence: last, reason }) => [
    "warning",
    `events ${first} to ${last} were removed (${reason})`,
  ],
  "gap.run_disconnected": ({ reason }) => ["warning", `the worker was lost (${reason}); another goes on`],
  "policy.model_rewrote": ({ from_model, to_model, reason }) => ["info", `${from_model} became ${to_model}: ${reason}`],
};
