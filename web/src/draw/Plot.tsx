/** Numbers as a plot, and the same numbers as a table for whoever reads better than sees. It draws what it is given. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { spread, stacked, thinned } from "./points";
import "uplot/dist/uPlot.min.css";
import "./plot.css";

/** Colours that are known to be told apart on both grounds. */
export type Colour = "accent" | "good" | "warn" | "bad" | "soft";

/** One row of numbers, drawn as a line, as steps that hold until the next number, or as bars. */
export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly colour: Colour;
  readonly shape: "line" | "step" | "bars";
}

/** What the numbers stand above: rising numbers, and how each is read. Moments are milliseconds. */
export interface Across {
  readonly name: string;
  readonly values: readonly number[];
  readonly show: (value: number) => string;
  /** Whether only whole numbers are worth a mark, as with turns and names. */
  readonly whole?: boolean;
  /** Whether they are moments, so that marks stand at full minutes and hours. */
  readonly time?: boolean;
}

export interface PlotProps {
  /** What is shown, for the caption and for screen readers. */
  readonly title: string;
  readonly across: Across;
  readonly lines: readonly Line[];
  /** How a number of the lines is read. */
  readonly show: (value: number) => string;
  /** Whether each line stands on the one before it. */
  readonly stack?: boolean;
  readonly height?: number;
  /** Called with the index of a point that was clicked. */
  readonly onPick?: (index: number) => void;
}

const HEIGHT = 180;
// So few points of a line are marked; a single one would not be seen otherwise.
const FEW = 30;
const TABLE_ROWS = 200;
// How high a plot is in which everything is 0; no number that is above it ends here.
const FLAT = 0.5;
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

export function Plot(props: PlotProps) {
  const hovered = useSignal<number | null>(null);
  const { across, lines } = props;
  if (across.values.length === 0) return <p class="plot-none">Nothing to plot yet.</p>;
  return (
    <figure class="plot" aria-label={props.title}>
      <Legend across={across} lines={lines} show={props.show} hovered={hovered} />
      <Canvas {...props} hovered={hovered} />
      <details>
        <summary>As a table</summary>
        <Table {...props} />
      </details>
    </figure>
  );
}

function Canvas(props: PlotProps & { hovered: Signal<number | null> }) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const height = props.height ?? HEIGHT;
  const looks = props.lines.map((line) => `${line.name} ${line.colour} ${line.shape}`).join("\n");
  // Made anew only when it is to look otherwise; new numbers are handed on below.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const plot = new uPlot(optionsOf(latest, element.clientWidth, height), dataOf(latest.current), element);
    drawn.current = plot;
    plot.over.addEventListener("click", () => pick(latest.current));
    const onSize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    onSize.observe(element);
    const stopTheme = onTheme(() => plot.redraw(false));
    return () => {
      onSize.disconnect();
      stopTheme();
      plot.destroy();
      drawn.current = null;
    };
  }, [looks, height]);
  useEffect(() => drawn.current?.setData(dataOf(latest.current)), [props.across.values, props.lines, props.stack]);
  return (
    // The table below says the same; a pointer's click is a short cut to what it names.
    <div ref={place} class="plot-canvas" aria-hidden="true" style={{ height: `${height}px` }} />
  );
}

/** The lines in the order in which they are drawn: what stands on others comes first, so that it does not hide them. */
function drawnOrder<T>(lines: readonly T[]): readonly T[] {
  return lines.toReversed();
}

function dataOf(props: PlotProps): uPlot.AlignedData {
  const rows = props.lines.map((line) => line.values);
  const heights = props.stack ? stacked(rows) : rows.map((row) => [...row]);
  return [[...props.across.values], ...drawnOrder(heights)];
}

function optionsOf(
  latest: { readonly current: PlotProps & { hovered: Signal<number | null> } },
  width: number,
  height: number,
): uPlot.Options {
  const { across, lines } = latest.current;
  const hasBars = lines.some((line) => line.shape === "bars");
  const axis = {
    stroke: () => colour("soft"),
    grid: { stroke: () => colour("line"), width: 1 },
    ticks: { show: false },
  };
  const own = () => latest.current;
  return {
    width,
    height,
    ms: 1,
    legend: { show: false },
    // Room for the half of a label that stands out at the end.
    padding: [null, across.time ? 36 : null, null, null],
    cursor: {
      drag: { x: false, y: false },
      points: { show: !hasBars },
    },
    scales: {
      x: { time: across.time ?? false, range: (_, low, high) => (hasBars ? spread(own().across.values) : [low, high]) },
      y: { range: (_, _low, high) => [0, high > 0 ? high * 1.08 : FLAT] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_, marks) => once(marks.map((mark) => own().across.show(mark))),
        space: across.time ? 110 : 70,
        ...(across.whole ? { incrs: WHOLE } : {}),
      },
      {
        ...axis,
        // Where everything is 0, a scale would only invent numbers.
        values: (plot, marks) => marks.map((mark) => (mark !== 0 && isFlat(plot) ? "" : own().show(mark))),
        size: 64,
        space: 32,
      },
    ],
    series: [{}, ...drawnOrder(lines).map(seriesOf)],
    hooks: {
      setCursor: [
        (plot) => {
          own().hovered.value = plot.cursor.idx ?? null;
        },
      ],
    },
  };
}

/** Words in a row, of which the same are said once: within a second, a clock has nothing to add. */
function once(words: readonly string[]): string[] {
  return words.map((word, place) => (word === words[place - 1] ? "" : word));
}

function isFlat(plot: uPlot): boolean {
  return plot.scales.y?.max === FLAT;
}

function pick(props: PlotProps & { hovered: Signal<number | null> }): void {
  const index = props.hovered.value;
  if (index !== null) props.onPick?.(index);
}

function seriesOf(line: Line): uPlot.Series {
  const paths =
    line.shape === "bars"
      ? uPlot.paths.bars?.({ size: [0.7, 48] })
      : line.shape === "step"
        ? uPlot.paths.stepped?.({ align: 1 })
        : uPlot.paths.linear?.();
  return {
    label: line.name,
    width: line.shape === "bars" ? 0 : 2,
    stroke: () => colour(line.colour),
    ...(line.shape === "bars" ? { fill: () => colour(line.colour) } : {}),
    ...(paths === undefined ? {} : { paths }),
    points: {
      show: line.shape !== "bars" && ((plot) => plot.data[0].length <= FEW),
      fill: () => colour("ground"),
    },
  };
}

/** What each colour means and, under the pointer, what the numbers are there. */
function Legend(props: Pick<PlotProps, "across" | "lines" | "show"> & { hovered: Signal<number | null> }) {
  const index = props.hovered.value;
  const above = index === null ? undefined : props.across.values[index];
  return (
    <div class="plot-legend" aria-hidden="true">
      {props.lines.map((line) => {
        const value = index === null ? null : line.values[index];
        return (
          <span key={line.name}>
            <i class={`plot-mark ${line.colour}`} /> {line.name}
            {value !== null && value !== undefined && <b> {props.show(value)}</b>}
          </span>
        );
      })}
      {above !== undefined && <span class="plot-where">{props.across.show(above)}</span>}
    </div>
  );
}

function Table({ title, across, lines, show }: PlotProps) {
  const rows = useMemo(() => thinned(across.values.length, TABLE_ROWS), [across.values.length]);
  const left = across.values.length - rows.length;
  return (
    <div class="plot-table">
      <table>
        <caption>
          {title}
          {left > 0 && ` (${rows.length} of ${across.values.length} points)`}
        </caption>
        <thead>
          <tr>
            <th scope="col">{across.name}</th>
            {lines.map((line) => (
              <th key={line.name} scope="col">
                {line.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((index) => (
            <tr key={index}>
              <th scope="row">{across.show(across.values[index] ?? 0)}</th>
              {lines.map((line) => {
                const value = line.values[index];
                return <td key={line.name}>{value === null || value === undefined ? "" : show(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function colour(name: Colour | "line" | "ground"): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Call back when the colours change, whether by choice or with the system. */
function onTheme(changed: () => void): () => void {
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", changed);
  return () => {
    chosen.disconnect();
    system.removeEventListener("change", changed);
  };
}
