/** Arithmetic of plots: heights that stand on each other, room at the edges, and fewer points than there are. Pure. */

type Row = readonly (number | null)[];

/** Each row on top of those before it; what is not there counts as nothing. */
export function stacked(rows: readonly Row[]): number[][] {
  const heights: number[][] = [];
  for (const row of rows) {
    const below = heights.at(-1);
    heights.push(row.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return heights;
}

/** From where to where bars reach: half a step beyond the first and the last of rising values. */
export function spread(values: readonly number[]): [number, number] {
  let step = Number.POSITIVE_INFINITY;
  for (let index = 1; index < values.length; index += 1) {
    step = Math.min(step, (values[index] ?? 0) - (values[index - 1] ?? 0));
  }
  const half = Number.isFinite(step) && step > 0 ? step / 2 : 0.5;
  return [(values[0] ?? 0) - half, (values.at(-1) ?? 0) + half];
}

/** At most so many indexes out of `length`, evenly spread, always with the first and the last. */
export function thinned(length: number, most: number): number[] {
  if (length <= most) return Array.from({ length }, (_, index) => index);
  return Array.from({ length: most }, (_, index) => Math.round((index * (length - 1)) / (most - 1)));
}
