/** How a run stands, by the same rules as the gateway: its status and its totals. The first end wins. */
import type { EventDataByType } from "@protocol";
import type { Status } from "../wire/resources/runs";

export interface Totals {
  turns: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  costMicrosUsd: number;
  budgetMicrosUsd: number | null;
}

/** What had been spent at a moment, in milliseconds since 1970. */
export interface Cost {
  readonly atMs: number;
  readonly micros: number;
}

type Spent = Partial<Record<"input_tokens" | "cached_input_tokens" | "output_tokens" | "cost_micros_usd", number>>;
type Ended = Partial<Record<"turns" | "cost_micros_usd", number>>;

export class Standing {
  status: Status;
  startedAt: string | null;
  readonly totals: Totals;
  readonly costs: Cost[];

  constructor(of?: Standing) {
    this.status = of?.status ?? "queued";
    this.startedAt = of?.startedAt ?? null;
    this.totals = { ...(of?.totals ?? NOTHING) };
    this.costs = of?.costs.slice() ?? [];
  }

  get isOver(): boolean {
    return ENDS.has(this.status);
  }

  /** What somebody else has counted, where not every event is known here. */
  learn(totals: Partial<Totals>): void {
    Object.assign(this.totals, totals);
  }

  /** Somebody works on it. */
  begun(at: string): void {
    if (this.isOver) return;
    if (this.status === "queued") this.status = "running";
    this.startedAt ??= at;
  }

  turnBegun(at: string): void {
    this.begun(at);
    if (!this.isOver) this.totals.turns += 1;
  }

  turnEnded(spent: Spent, at: string): void {
    if (this.isOver) return;
    this.totals.inputTokens += spent.input_tokens ?? 0;
    this.totals.cachedTokens += spent.cached_input_tokens ?? 0;
    this.totals.outputTokens += spent.output_tokens ?? 0;
    this.#cost(this.totals.costMicrosUsd + (spent.cost_micros_usd ?? 0), at);
  }

  /** Totals never fall: a tick may trail the turns it sums, and some agents report only ticks. */
  ticked(data: EventDataByType["cost.tick"], at: string): void {
    if (this.isOver) return;
    const { totals } = this;
    totals.inputTokens = Math.max(totals.inputTokens, data.cumulative_input_tokens);
    totals.cachedTokens = Math.max(totals.cachedTokens, data.cumulative_cached_input_tokens ?? 0);
    totals.outputTokens = Math.max(totals.outputTokens, data.cumulative_output_tokens);
    totals.budgetMicrosUsd = data.task_budget_micros_usd;
    this.#cost(Math.max(totals.costMicrosUsd, data.cumulative_cost_micros_usd), at);
  }

  bounded(budgetMicrosUsd: number): void {
    if (!this.isOver) this.totals.budgetMicrosUsd = budgetMicrosUsd;
  }

  asked(): void {
    if (!this.isOver) this.status = "awaiting_approval";
  }

  /** A question has been settled; `left` are not. */
  settled(left: number): void {
    if (!this.isOver && left === 0) this.status = "running";
  }

  ended(status: "completed" | "failed" | "cancelled", spent: Ended, at: string): void {
    if (this.isOver) return;
    this.totals.turns = Math.max(this.totals.turns, spent.turns ?? 0);
    this.#cost(Math.max(this.totals.costMicrosUsd, spent.cost_micros_usd ?? 0), at);
    this.status = status;
  }

  #cost(micros: number, at: string): void {
    if (micros === this.totals.costMicrosUsd) return;
    this.totals.costMicrosUsd = micros;
    const last = this.costs.at(-1)?.atMs ?? 0;
    // Clocks may be set back, or wrong altogether; a plot goes from left to right.
    this.costs.push({ atMs: Math.max(Date.parse(at) || last, last), micros });
  }
}

const ENDS: ReadonlySet<Status> = new Set<Status>(["completed", "failed", "cancelled"]);
const NOTHING: Totals = {
  turns: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  costMicrosUsd: 0,
  budgetMicrosUsd: null,
};
