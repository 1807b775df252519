/** The run as a person reads it: its blocks in order, of which those that changed are drawn anew, each by itself. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Card } from "../../cards/Card";
import type { Block } from "../../fold/blocks";
import { useKeys } from "../../parts/keys";
import { type ListHandle, VirtualList } from "../../parts/VirtualList";
import type { OpenRun } from "./OpenRun";
import { listed, nextRow, placeIn } from "./shown";
import type { View } from "./View";

// How high cards tend to be before they are measured.
const HEIGHTS: Partial<Record<Block["kind"], number>> = { prose: 110, turn: 40, approval: 200, todo: 120, user: 90 };
const HEIGHT = 48;
const PRINTED = 180;

export function Timeline({ open, view }: { open: OpenRun; view: View }) {
  const list = useRef<ListHandle | null>(null);
  const [atEnd, setAtEnd] = useState(true);
  const grown = open.grown.value;
  const upTo = view.replay.upTo.value;
  const fold = view.fold();
  const { blocks, jumps } = fold;
  const filter = view.filter.value;
  const thinking = view.thinking.value;
  // Only what has failed can change its mind about being listed; everything else is listed by what it is.
  const errors = filter === "errors" ? jumps.errors.length : 0;
  // Blocks are added in place, and their number tells.
  const shown = useMemo(
    () => listed(blocks, jumps.errors, filter, thinking),
    [fold, blocks.length, errors, filter, thinking],
  );
  // An event makes one block at most, so it names the block, also when earlier events are read.
  const keyOf = useMemo(() => (row: number) => blocks[shown[row] ?? -1]?.sequence ?? -1, [shown]);
  const estimate = (row: number) => likelyHeight(blocks[shown[row] ?? -1]);
  useWanted(view, shown, list);
  useMoves(view, shown, list);
  useEffect(() => view.search.lookOn(), [view, grown]);
  // Who replays wants to see what has just happened.
  useLayoutEffect(() => {
    if (upTo !== null) list.current?.toEnd();
  }, [upTo]);
  const selected = view.selected.value;
  const hits = view.search.hits.value;
  const marked = view.marked.value === null ? -1 : open.blockOf(view.marked.value);
  return (
    <div class="run-timeline">
      <VirtualList
        class="run-blocks"
        role="feed"
        rowRole="article"
        label="Timeline"
        count={shown.length}
        keyOf={keyOf}
        estimate={estimate}
        // Who stands on a block reads it: it must not move away.
        follow={selected === null}
        onEnd={setAtEnd}
        handle={list}
        row={(row) => {
          const block = blocks[shown[row] ?? -1];
          if (block === undefined) return null;
          const isHit = hits.length > 0 && hits[placeIn(hits, block.index)] === block.index;
          return (
            <Row
              block={block}
              revision={block.revision}
              view={view}
              runId={open.runId}
              isSelected={block.index === selected}
              look={`${block.index === marked ? "marked" : ""} ${isHit ? "hit" : ""}`}
            />
          );
        }}
      />
      {shown.length === 0 && !open.isReading.value && (
        <p class="run-empty">{blocks.length === 0 ? "Nothing has happened yet." : "Nothing here is of this kind."}</p>
      )}
      {!atEnd && (
        <button type="button" class="run-newest" onClick={() => toEnd(view, list)} title="Go to the end (G)">
          {upTo === null && fold.end === null ? "↓ Newest" : "↓ End"}
        </button>
      )}
    </div>
  );
}

function likelyHeight(block: Block | undefined): number {
  if (block === undefined) return HEIGHT;
  if (block.kind === "tool" && block.output.chars > 0) return PRINTED;
  return HEIGHTS[block.kind] ?? HEIGHT;
}

interface RowProps {
  readonly block: Block;
  readonly revision: number;
  readonly view: View;
  readonly runId: string;
  readonly isSelected: boolean;
  readonly look: string;
}

function Row({ block, revision, view, runId, isSelected, look }: RowProps) {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isSelected && mayTakeFocus()) row.current?.focus({ preventScroll: true });
  }, [isSelected]);
  return (
    <div ref={row} class={`run-row ${look} ${isSelected ? "selected" : ""}`} tabIndex={-1}>
      <Card block={block} revision={revision} runId={runId} active={isSelected} onRaw={view.onRaw} />
    </div>
  );
}

/** Stand on nothing any more and follow what comes. */
function toEnd(view: View, list: { readonly current: ListHandle | null }): void {
  view.selected.value = null;
  list.current?.toEnd();
}

/** A row takes the focus only from where moving among rows begins: never from a field or a dialog. */
function mayTakeFocus(): boolean {
  const now = document.activeElement;
  if (now === null || now === document.body || now.tagName === "MAIN") return true;
  return now.closest(".run-blocks, .run-jumps") !== null;
}

/** Bring into view what was asked for, once it is listed. */
function useWanted(view: View, shown: readonly number[], list: { readonly current: ListHandle | null }): void {
  const wanted = view.wanted.value;
  const done = useRef(wanted);
  useLayoutEffect(() => {
    if (wanted === null || wanted === done.current) return;
    const row = placeIn(shown, wanted.block);
    if (row >= shown.length) return;
    done.current = wanted;
    list.current?.show(row, "center");
  }, [wanted, shown, list]);
}

function useMoves(view: View, shown: readonly number[], list: { readonly current: ListHandle | null }): void {
  const move = (step: 1 | -1) => {
    const row = nextRow(shown, view.selected.peek(), list.current?.seen() ?? null, step);
    const block = shown[row];
    if (block === undefined) return;
    view.selected.value = block;
    list.current?.show(row);
  };
  const element = () => {
    const selected = view.selected.peek();
    return selected === null ? null : (list.current?.element(placeIn(shown, selected)) ?? null);
  };
  const group = "Timeline";
  useKeys(
    [
      { keys: "j", about: "Next block", group, act: () => move(1) },
      { keys: "k", about: "Previous block", group, act: () => move(-1) },
      {
        keys: "Enter",
        about: "Open or close the block",
        group,
        act: () => element()?.querySelector<HTMLElement>("[aria-expanded], summary")?.click(),
      },
      {
        keys: "o",
        about: "Show the event as it is stored",
        group,
        act: () => view.showRaw(),
      },
      { keys: "G", about: "Go to the end", group, act: () => toEnd(view, list) },
      { keys: "g g", about: "Go to the beginning", group, act: () => list.current?.show(0, "start") },
    ],
    [view, shown],
  );
}
