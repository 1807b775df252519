/** What every card has: a mark, a name, one line about it, some facts, and a body that opens. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Block } from "../fold/blocks";
import { moment } from "../text/words";
import { isOpen, setOpen } from "./opened";

/** What a card is given. */
export interface CardProps<B extends Block = Block> {
  readonly block: B;
  /** Of the block: it changes in place, and this tells when. */
  readonly revision: number;
  readonly runId: string;
  /** Whether the reader stands on it: its own keys work then. */
  readonly active?: boolean;
  /** Show the stored event of this sequence. */
  readonly onRaw?: (sequence: number) => void;
}

export type Level = "plain" | "good" | "bad" | "warn" | "busy";

interface FrameProps extends CardProps {
  readonly mark: string;
  readonly name: string;
  readonly title: ComponentChildren;
  readonly level?: Level;
  readonly facts?: ComponentChildren;
  readonly openAtFirst?: boolean;
  /** Shown while the body is closed. */
  readonly preview?: ComponentChildren;
  /** Made only when it is open; a card without a body does not open. */
  readonly body?: () => ComponentChildren;
}

export function Frame(props: FrameProps) {
  const { block, runId, body } = props;
  const id = useId();
  const open = body !== undefined && isOpen(runId, block, props.openAtFirst ?? false);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and a section would be a landmark of the page
    <div role="group" class={`card card-${block.kind} ${props.level ?? "plain"}`} aria-labelledby={id}>
      <div class="card-head">
        <Title {...props} id={id} open={open} />
        <Facts {...props} />
      </div>
      {open ? <div class="card-body">{body()}</div> : props.preview}
    </div>
  );
}

function Title({ mark, name, title, body, block, runId, id, open }: FrameProps & { id: string; open: boolean }) {
  const words = (
    <>
      <span class="card-mark" aria-hidden="true">
        {mark}
      </span>
      <span class="card-name">{name}</span>
      <bdi class="card-title">{title}</bdi>
    </>
  );
  if (body === undefined) {
    return (
      <div class="card-what" id={id}>
        {words}
      </div>
    );
  }
  return (
    <button
      type="button"
      class="card-what card-toggle"
      id={id}
      aria-expanded={open}
      onClick={() => setOpen(runId, block, !open)}
    >
      <span class="card-turner" aria-hidden="true" />
      {words}
    </button>
  );
}

/** What stands at the end of a card's line: facts, the time, the way to the stored event. */
export function Facts({ facts, block, onRaw }: Pick<FrameProps, "facts" | "block" | "onRaw">) {
  return (
    <div class="card-facts">
      {facts}
      <time dateTime={block.at} title={moment(block.at)}>
        {clockOf(block.at)}
      </time>
      {onRaw !== undefined && (
        <button
          type="button"
          class="quiet card-raw"
          aria-label={`Raw event ${block.sequence}`}
          title="Show the stored event"
          onClick={() => onRaw(block.sequence)}
        >
          #{block.sequence}
        </button>
      )}
    </div>
  );
}

function clockOf(at: string): string {
  const moment = new Date(at);
  return Number.isNaN(moment.getTime()) ? "" : moment.toLocaleTimeString();
}
