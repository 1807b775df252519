/**
 * A long list of which only the part around what is looked at is in the page. Heights are measured, so rows may be
 * of any height and may grow. It stays at the end while things are added there, unless the reader has scrolled away.
 */
import {
  observeElementOffset,
  observeElementRect,
  type Range,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import "./virtual-list.css";

/** What the owner of a list can ask of it. */
export interface ListHandle {
  /** Bring a row into view; `auto` moves no more than needed. */
  show(index: number, align?: "start" | "center" | "auto"): void;
  /** Go to the end, and stay there while the list is followed. */
  toEnd(): void;
  /** The first and the last row that can be seen, or nothing in an empty list. */
  seen(): { readonly first: number; readonly last: number } | null;
  /** The element of a row, while it is in the page. */
  element(index: number): HTMLElement | null;
}

export interface VirtualListProps {
  readonly count: number;
  /** Names a row for good. The same function as long as the same things stand at the same places. */
  readonly keyOf: (index: number) => number | string;
  /** How high a row is likely to be, until it is measured. */
  readonly estimate: (index: number) => number;
  readonly row: (index: number) => ComponentChildren;
  /** Whether the end is followed while it is in sight. */
  readonly follow?: boolean;
  /** Called when the end comes into sight or leaves it. */
  readonly onEnd?: (atEnd: boolean) => void;
  readonly handle?: { current: ListHandle | null };
  readonly label: string;
  readonly class?: string;
  readonly role?: "feed" | "list" | "rowgroup" | "listbox" | "region";
  readonly rowRole?: "article" | "listitem" | "row" | "option" | "presentation";
}

// Rows this far beyond the edges are kept in the page: a fast wheel must not outrun them.
const OVERSCAN_PX = 900;
// So close to the end counts as being there.
const NEAR_PX = 40;

type Core = Virtualizer<HTMLDivElement, HTMLDivElement>;

export function VirtualList(props: VirtualListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const core = useCore(props, scroller);
  const items = core.getVirtualItems();
  const { role = "list", rowRole = "listitem" } = props;
  // What scrolls must be reachable by keyboard.
  const named = { role, "aria-label": props.label, tabIndex: 0 };
  return (
    <div ref={scroller} class={`virtual-list ${props.class ?? ""}`} {...named}>
      <div class="virtual-list-all" role="presentation" style={{ height: `${core.getTotalSize()}px` }}>
        <div
          class="virtual-list-shown"
          role="presentation"
          style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
        >
          {items.map((item) => (
            <div
              key={item.key}
              ref={core.measureElement}
              data-index={item.index}
              class="virtual-list-row"
              role={rowRole}
              {...position(rowRole, item.index, props.count)}
            >
              {props.row(item.index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function position(role: string, index: number, count: number): Record<string, number> {
  if (role === "row") return { "aria-rowindex": index + 2 };
  return role === "presentation" ? {} : { "aria-posinset": index + 1, "aria-setsize": count };
}

function useCore(props: VirtualListProps, scroller: { readonly current: HTMLDivElement | null }): Core {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const kept = useRef<Core | null>(null);
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count: props.count,
    getItemKey: props.keyOf,
    estimateSize: props.estimate,
    getScrollElement: () => scroller.current,
    scrollToFn: writeScroll,
    observeElementRect,
    observeElementOffset: observeOffset,
    measureElement: measured,
    rangeExtractor: (range) => around(range, kept.current),
    // What stands in view stays there when the list above it changes.
    anchorTo: "end",
    onChange: () => redraw(null),
  };
  kept.current ??= new Virtualizer(options);
  const core = kept.current;
  core.setOptions(options);
  useLayoutEffect(() => core._didMount(), [core]);
  useLayoutEffect(() => core._willUpdate());
  useEnd(core, props, scroller);
  return core;
}

/** Keep to the end as long as the reader is there, and hand out the handle. */
function useEnd(core: Core, props: VirtualListProps, scroller: { readonly current: HTMLDivElement | null }): void {
  const newest = useRef(props);
  newest.current = props;
  const end = useRef<End | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const made = new End(element, (atEnd) => newest.current.onEnd?.(atEnd));
    end.current = made;
    const { handle } = newest.current;
    if (handle !== undefined) handle.current = handleOf(core, made);
    return () => {
      made.leave();
      if (handle !== undefined) handle.current = null;
    };
  }, [core, scroller]);
  useLayoutEffect(() => end.current?.keep(props.follow ?? false));
}

/** Whether the reader is at the end. Scrolling up leaves it; things that are added below do not. */
class End {
  #isHere = true;
  #told: boolean | null = null;
  #top = 0;

  constructor(
    readonly element: HTMLElement,
    readonly tell: (atEnd: boolean) => void,
  ) {
    // Before the list hears of it: the list draws at once, and whether to keep to the end must be known then.
    element.addEventListener("scroll", this.#scrolled, { passive: true, capture: true });
  }

  leave(): void {
    this.element.removeEventListener("scroll", this.#scrolled, { capture: true });
  }

  /** Go to the end after a change, if the reader was there and the list is followed. */
  keep(follow: boolean): void {
    // Who is elsewhere stays there; asking how far away would lay the page out for nothing.
    if (!this.#isHere) return;
    // The reader may have left a moment ago, and the browser has not said so yet.
    this.#notice();
    if (follow && this.#isHere && this.#away() > 1) this.go();
    this.#say();
  }

  go(): void {
    this.#isHere = true;
    writeScroll(this.element.scrollHeight, {}, this);
  }

  /** The reader is led elsewhere. */
  part(): void {
    this.#isHere = false;
  }

  get scrollElement(): HTMLElement {
    return this.element;
  }

  readonly #scrolled = () => {
    this.#notice();
    this.#say();
  };

  #notice(): void {
    const top = this.element.scrollTop;
    if (this.#away() <= NEAR_PX) this.#isHere = true;
    else if (top < this.#top) this.#isHere = false;
    this.#top = top;
  }

  #away(): number {
    const { scrollHeight, clientHeight, scrollTop } = this.element;
    return scrollHeight - clientHeight - scrollTop;
  }

  #say(): void {
    const atEnd = this.#away() <= NEAR_PX;
    if (atEnd === this.#told) return;
    this.#told = atEnd;
    this.tell(atEnd);
  }
}

function handleOf(core: Core, end: End): ListHandle {
  return {
    show: (index, align = "auto") => {
      end.part();
      core.scrollToIndex(index, { align });
    },
    toEnd: () => end.go(),
    seen: () => (core.range === null ? null : { first: core.range.startIndex, last: core.range.endIndex }),
    element: (index) => core.elementsCache.get(core.options.getItemKey(index)) ?? null,
  };
}

/**
 * Scroll, and say so at once. The browser would say it in the next frame, and the rows that belong there would come
 * only then: a frame without them would be seen.
 */
function writeScroll(
  offset: number,
  { adjustments = 0 }: { adjustments?: number },
  { scrollElement }: { readonly scrollElement: HTMLElement | null },
): void {
  if (scrollElement === null) return;
  scrollElement.scrollTop = offset + adjustments;
  scrollElement.dispatchEvent(new Event("scroll"));
}

/** Hear of scrolling once: the browser repeats, a frame later, what was said when it was written. */
function observeOffset(core: Core, tell: (offset: number, isScrolling: boolean) => void) {
  let last: number | null = null;
  return observeElementOffset(core, (offset, isScrolling) => {
    if (isScrolling && offset === last) return;
    last = offset;
    tell(offset, isScrolling);
  });
}

/** The rows that are seen, and so many around them that scrolling finds them there. */
function around({ startIndex, endIndex, count }: Range, core: Core | null): number[] {
  const sizeOf = (index: number) => core?.measurementsCache[index]?.size ?? 1;
  let from = startIndex;
  for (let room = OVERSCAN_PX; from > 0 && room > 0; room -= sizeOf(from)) from -= 1;
  let to = endIndex;
  for (let room = OVERSCAN_PX; to < count - 1 && room > 0; room -= sizeOf(to)) to += 1;
  return Array.from({ length: to - from + 1 }, (_, place) => from + place);
}

/**
 * The height, once the browser tells it. A row that has just come is not asked: the answer comes before the next paint
 * anyway, for all new rows together, and asking each would lay the page out as many times.
 */
function measured(element: HTMLDivElement, entry: ResizeObserverEntry | undefined, core: Core): number {
  const box = entry?.borderBoxSize[0];
  if (box !== undefined) return Math.round(box.blockSize);
  const index = core.indexFromElement(element);
  return core.itemSizeCache.get(core.options.getItemKey(index)) ?? core.options.estimateSize(index);
}
