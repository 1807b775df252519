/**
 * From events to blocks: takes envelopes one by one and keeps what a person sees of them, by the rules of the
 * terminal's drawing. It never throws: what is unknown, or not what its type says, is shown as it came.
 */
import type { EventDataByType as Data } from "@protocol";
import { oneLine } from "../text/harmless";
import type { Envelope } from "../wire/events";
import type { Status } from "../wire/resources/runs";
import type { Approval, Block, Child, End, Fields, Media, Note, Opaque, Todo, Turn, User } from "./blocks";
import { Calls } from "./calls";
import { Changes } from "./changes";
import { Decisions } from "./decisions";
import { readerOf } from "./reading";
import { Sayings } from "./sayings";
import { type Cost, Standing, type Totals } from "./standing";
import { type Jumps, Timeline } from "./timeline";

type Ended = Data["run.finished"] | Data["run.failed"] | Data["run.cancelled"];

export class RunFold {
  readonly timeline: Timeline;
  readonly standing: Standing;
  readonly calls: Calls;
  readonly changes: Changes;
  readonly sayings: Sayings;
  readonly decisions: Decisions;
  // Where they stand among the blocks.
  readonly #turns: number[];
  readonly #children: Map<string, number>;
  #todo: number | undefined;
  #end: number | undefined;

  constructor(of?: RunFold) {
    this.timeline = of?.timeline.fork() ?? new Timeline();
    this.standing = new Standing(of?.standing);
    this.calls = new Calls(this.timeline, of?.calls);
    this.changes = new Changes(this.timeline, this.calls, of?.changes);
    this.sayings = new Sayings(this.timeline, of?.sayings);
    this.decisions = new Decisions(this.timeline, this.calls, of?.decisions);
    this.#turns = of === undefined ? [] : of.#turns.slice();
    this.#children = new Map(of === undefined ? [] : of.#children);
    this.#todo = of === undefined ? undefined : of.#todo;
    this.#end = of === undefined ? undefined : of.#end;
  }

  /** An independent twin: what one takes in from here on does not change the other. */
  fork(): RunFold {
    return new RunFold(this);
  }

  /** Everything there is to see, in the order in which it began. */
  get blocks(): readonly Block[] {
    return this.timeline.blocks;
  }

  /** The last event taken in; -1 before the first. */
  get head(): number {
    return this.timeline.head;
  }

  /** When the last event happened; empty before the first. */
  get lastAt(): string {
    return this.timeline.at;
  }

  /** When somebody began to work on it. */
  get startedAt(): string | null {
    return this.standing.startedAt;
  }

  get status(): Status {
    return this.standing.status;
  }

  get totals(): Readonly<Totals> {
    return this.standing.totals;
  }

  /** What had been spent, whenever that changed. */
  get costs(): readonly Cost[] {
    return this.standing.costs;
  }

  get jumps(): Jumps {
    return this.timeline.jumps;
  }

  /** The questions that nobody has answered, by their ids, the oldest first. */
  get pending(): ReadonlyMap<string, Approval> {
    return this.decisions.pending();
  }

  get turns(): readonly Turn[] {
    return this.#turns.map((index) => this.blocks[index]).filter((block) => block?.kind === "turn");
  }

  get todo(): Todo | null {
    const block = this.blocks[this.#todo ?? -1];
    return block?.kind === "todo" ? block : null;
  }

  /** How the run ended, once it has; what is settled later follows it. */
  get end(): End | null {
    const block = this.blocks[this.#end ?? -1];
    return block?.kind === "end" ? block : null;
  }

  /** Take in the next event; the block that it made or changed, if it did. */
  take(event: Envelope): Block | null {
    this.timeline.head = event.sequence;
    this.timeline.at = event.occurred_at;
    const read = readerOf(event.type);
    const taken = read?.(this, event.data);
    return taken === undefined ? this.opaque(event.type, event.data) : taken;
  }

  opaque(type: string, data: Fields): Block {
    return this.timeline.make<Opaque>(false, (common) => ({ kind: "opaque", type, data, ...common }));
  }

  noted(level: Note["level"], text: string): Block {
    const block = this.timeline.make<Note>(false, (common) => ({
      kind: "note",
      level,
      text: oneLine(text),
      ...common,
    }));
    if (level === "error") this.timeline.wrong(block);
    return block;
  }

  heard(text: string, by: string, attachment: User["attachment"] = null): Block {
    return this.timeline.make<User>(false, (common) => ({
      kind: "user",
      text,
      by: oneLine(by),
      attachment,
      ...common,
    }));
  }

  shown({ mime, artifact_id: artifactId, summary = "" }: Data["assistant.media"]): Block {
    const facts = { mime: oneLine(mime), artifactId, summary: oneLine(summary) };
    return this.timeline.make<Media>(false, (common) => ({ ...facts, kind: "media", ...common }));
  }

  listed(data: Data["tool.todo_write.updated"]): Block {
    const items = data.todos.map(({ content, status }) => ({ content: oneLine(content), status }));
    this.calls.told(data.tool_call_id);
    const block = this.timeline.change(this.#todo);
    if (block?.kind === "todo") {
      block.items = items;
      return block;
    }
    const made = this.timeline.make<Todo>(true, (common) => ({ kind: "todo", items, ...common }));
    this.#todo = made.index;
    return made;
  }

  // Turns

  turnStarted({ turn_index: turn, model }: Data["turn.started"]): Block {
    this.standing.turnBegun(this.timeline.at);
    const made = this.timeline.make<Turn>(true, (common) => ({
      kind: "turn",
      turn,
      model: model === null ? null : oneLine(model),
      state: "running",
      inputTokens: 0,
      cachedTokens: 0,
      outputTokens: 0,
      costMicrosUsd: 0,
      durationMs: null,
      error: "",
      ...common,
    }));
    this.#turns.push(made.index);
    return made;
  }

  turnCompleted(data: Data["turn.completed"]): Block | null {
    const block = this.#turnEnded(data.turn_index, data);
    if (block === null) return null;
    block.state = "completed";
    block.durationMs = data.duration_ms;
    return block;
  }

  turnFailed(data: Data["turn.failed"]): Block | null {
    this.sayings.breakOff();
    const then = data.will_retry ? "; it is tried again" : "";
    const error = oneLine(`${data.code}: ${data.message}`) + then;
    const block = this.#turnEnded(data.turn_index, data);
    if (block === null) return this.noted(data.will_retry ? "warning" : "error", `the turn failed: ${error}`);
    block.state = "failed";
    block.error = error;
    if (!data.will_retry) this.timeline.wrong(block);
    return block;
  }

  #turnEnded(turn: number, spent: Data["turn.completed"] | Data["turn.failed"]): Turn | null {
    this.standing.turnEnded(spent, this.timeline.at);
    const block = this.timeline.change(this.#turns.at(-1));
    if (block?.kind !== "turn" || block.turn !== turn || !block.open) return null;
    block.inputTokens = spent.input_tokens ?? 0;
    block.cachedTokens = "cached_input_tokens" in spent ? (spent.cached_input_tokens ?? 0) : 0;
    block.outputTokens = spent.output_tokens ?? 0;
    block.costMicrosUsd = spent.cost_micros_usd ?? 0;
    this.timeline.close(block);
    return block;
  }

  // Other runs

  related(
    relation: Child["relation"],
    runId: string,
    facts: Partial<Pick<Child, "agent" | "summary" | "fromSequence">>,
  ): Child {
    const made = this.timeline.make<Child>(relation === "child", (common) => ({
      kind: "child",
      relation,
      runId,
      agent: oneLine(facts.agent ?? ""),
      summary: oneLine(facts.summary ?? ""),
      fromSequence: facts.fromSequence ?? null,
      state: relation === "child" ? "running" : "",
      result: "",
      ...common,
    }));
    if (relation === "child") this.#children.set(runId, made.index);
    return made;
  }

  childFinished(data: Data["run.child_finished"]): Block {
    const known = this.timeline.change(this.#children.get(data.child_run_id));
    const block = known?.kind === "child" ? known : this.related("child", data.child_run_id, {});
    block.state = oneLine(data.final_status);
    block.result = oneLine(data.summary ?? "");
    if (block.state === "failed") this.timeline.wrong(block);
    this.timeline.close(block);
    return block;
  }

  // The end

  over(state: End["state"], text: string, data: Ended): Block {
    this.standing.ended(state, data, this.timeline.at);
    this.sayings.breakOff();
    // Of a log that was cut, calls may be open; nothing will come of them now.
    this.timeline.closeAll();
    this.calls.forget();
    const made = this.timeline.make<End>(false, (common) => ({
      kind: "end",
      state,
      text: oneLine(text),
      turns: data.turns ?? null,
      costMicrosUsd: data.cost_micros_usd ?? null,
      durationMs: data.duration_ms ?? null,
      ...common,
    }));
    this.#end ??= made.index;
    if (state === "failed") this.timeline.wrong(made);
    return made;
  }
}
