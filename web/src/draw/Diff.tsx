/** One file's diff: in one column or two, with the words that differ marked. Of a long one only what is seen is drawn. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type FileDiff, type Line, pathOf } from "./hunks";
import { marksOf } from "./marks";
import { type Row, rowsOf } from "./rows";
import { Scrolling } from "./Scrolling";
import { seen } from "./seen";
import "./diff.css";

/** What a reader has gone through, hunk by hunk. */
export interface Reading {
  /** Hunks that have been read; they are closed. */
  readonly read: ReadonlySet<number>;
  /** The one that is being read, to be kept in sight. */
  readonly at: number | null;
  readonly onRead: (hunk: number) => void;
}

// Beyond so many rows each gets the same height, so that only those in sight need to be there.
const MANY = 400;
const ROW_PX = 20;
const BEYOND = 30;
const MAX_CHARS = 5_000;
const NOTHING_READ: ReadonlySet<number> = new Set();

export function Diff({ file, split, reading }: { file: FileDiff; split: boolean; reading?: Reading }) {
  const read = reading?.read ?? NOTHING_READ;
  const rows = useMemo(() => rowsOf(file, split, read), [file, split, read]);
  const box = useRef<HTMLDivElement>(null);
  const many = rows.length > MANY;
  const [from, to] = useSight(box, rows.length, many);
  useKept(box, rows, many, reading?.at ?? null);
  if (rows.length === 0) return <p class="draw-diff-none">{emptiness(file)}</p>;
  const columns = split ? 4 : 3;
  const label = `Changes of ${seen(pathOf(file))}`;
  return (
    <Scrolling box={box} class={`draw-diff ${many ? "many" : ""}`} label={label}>
      <table class={split ? "split" : "unified"} aria-rowcount={rows.length}>
        <caption class="sr-only">{label}</caption>
        <colgroup>
          {(split ? SPLIT : UNIFIED).map((name) => (
            <col key={name} class={name.startsWith("Line") ? "number" : "text"} />
          ))}
        </colgroup>
        <thead class="sr-only">
          <tr>
            {(split ? SPLIT : UNIFIED).map((name, place) => (
              <th key={place} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space rows={from} columns={columns} />
          {rows.slice(from, to).map((row, place) => (
            <OneRow key={from + place} row={row} columns={columns} {...(reading ? { reading } : {})} />
          ))}
          <Space rows={rows.length - to} columns={columns} />
        </tbody>
      </table>
    </Scrolling>
  );
}

const UNIFIED = ["Line before", "Line after", "Text"];
const SPLIT = ["Line before", "Text before", "Line after", "Text after"];

function emptiness(file: FileDiff): string {
  if (file.binary) return "This is not text, so there are no lines to show.";
  return file.change === "changed" ? "No line changes." : `The file is ${file.change}; no line changes.`;
}

function Space({ rows, columns }: { rows: number; columns: number }) {
  if (rows === 0) return null;
  return (
    <tr>
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}

function OneRow({ row, columns, reading }: { row: Row; columns: number; reading?: Reading }) {
  if (row.kind === "hunk") return <Head row={row} columns={columns} {...(reading ? { reading } : {})} />;
  if (row.kind === "pair") {
    return (
      <tr>
        <Side line={row.left} number={row.left?.old} />
        <Side line={row.right} number={row.right?.new} />
      </tr>
    );
  }
  const { line } = row;
  return (
    <tr class={NAMES[line.sign].look}>
      <td class="number">{line.old}</td>
      <td class="number">{line.new}</td>
      <Text line={line} />
    </tr>
  );
}

function Head({ row, columns, reading }: { row: Row & { kind: "hunk" }; columns: number; reading?: Reading }) {
  const isRead = reading?.read.has(row.hunk) ?? false;
  return (
    <tr class={`hunk ${reading?.at === row.hunk ? "at" : ""}`} data-hunk={row.hunk}>
      <td colSpan={columns}>
        <span class="where">{row.text}</span>
        {reading !== undefined && (
          <label>
            <input type="checkbox" checked={isRead} onChange={() => reading.onRead(row.hunk)} /> read
          </label>
        )}
      </td>
    </tr>
  );
}

function Side({ line, number }: { line: Line | null; number: number | null | undefined }) {
  if (line === null) return <td class="nothing" colSpan={2} />;
  return (
    <>
      <td class={`number ${NAMES[line.sign].look}`}>{number}</td>
      <Text line={line} />
    </>
  );
}

const NAMES = {
  " ": { look: "same", about: "" },
  "+": { look: "added", about: "added: " },
  "-": { look: "removed", about: "removed: " },
} as const;

function Text({ line }: { line: Line }) {
  const { look, about } = NAMES[line.sign];
  return (
    <td class={`text ${look}`}>
      <span class="sign" aria-hidden="true">
        {line.sign}
      </span>
      {about !== "" && <span class="sr-only">{about}</span>}
      {marksOf(line).map(({ text, differs }, place) =>
        differs ? <mark key={place}>{shown(text)}</mark> : shown(text),
      )}
      {line.bare && <span class="bare">no line feed at the end</span>}
    </td>
  );
}

function shown(text: string): string {
  const short = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)} … ${text.length} characters` : text;
  return seen(short);
}

/** The rows that are in sight of the box, and some around them. */
function useSight(box: { current: HTMLElement | null }, count: number, many: boolean): [from: number, to: number] {
  // Counted in steps, so that it is not drawn anew for every pixel.
  const [sight, setSight] = useState({ first: 0, steps: 1 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || !many) return;
    const look = () => {
      const first = Math.floor(element.scrollTop / ROW_PX / BEYOND);
      const steps = Math.ceil(element.clientHeight / ROW_PX / BEYOND);
      setSight((before) => (before.first === first && before.steps === steps ? before : { first, steps }));
    };
    look();
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box, many]);
  if (!many) return [0, count];
  const from = Math.min(sight.first, Math.floor(count / BEYOND)) * BEYOND;
  return [Math.max(0, from - BEYOND), Math.min(count, from + (sight.steps + 2) * BEYOND)];
}

/** Keep the hunk that is being read in sight. */
function useKept(box: { current: HTMLElement | null }, rows: readonly Row[], many: boolean, at: number | null): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || at === null) return;
    const place = rows.findIndex((row) => row.hunk === at);
    if (many && place !== -1) element.scrollTop = place * ROW_PX;
    const shown = element.querySelector(`[data-hunk="${at}"]`);
    (many ? element : shown)?.scrollIntoView?.({ block: "nearest" });
  }, [box, rows, many, at]);
}
