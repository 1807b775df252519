/** A long list in a real page: what is in view after everything that a reader or a run can do to it. */
import { render } from "preact";
import { type ListHandle, VirtualList } from "../../src/parts/VirtualList";
import style from "../../src/parts/virtual-list.css?inline";

export interface Seen {
  /** What was done before this was seen. */
  readonly after: string;
  /** The names of the rows in view, first and last. */
  readonly first: string;
  readonly last: string;
  /** Whether every point of the view is covered by a row. */
  readonly covered: boolean;
  /** How far the end is away. */
  readonly away: number;
  /** How many rows are in the page. */
  readonly rows: number;
  readonly atEnd: boolean;
}

const HEIGHT = 400;
const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
document.adoptedStyleSheets = [sheet];
const box = document.createElement("div");
box.style.height = `${HEIGHT}px`;
document.body.append(box);

const handle: { current: ListHandle | null } = { current: null };
let names: readonly number[] = [];
let grownBy = 0;
let atEnd = false;
const frames: boolean[] = [];
const seen: Seen[] = [];

function draw(follow: boolean): void {
  const now = names;
  render(
    <VirtualList
      label="Rows"
      count={now.length}
      keyOf={(row) => now[row] ?? -1}
      estimate={() => 30}
      follow={follow}
      handle={handle}
      onEnd={(isThere) => {
        atEnd = isThere;
      }}
      row={(row) => <Row name={now[row] ?? -1} isLast={row === now.length - 1} />}
    />,
    box,
  );
}

/** No two neighbours are of one height, and none is as high as was guessed; the last one grows. */
function Row({ name, isLast }: { name: number; isLast: boolean }) {
  return <p style={{ margin: "0", height: `${40 + (name % 7) * 15 + (isLast ? grownBy : 0)}px` }}>row {name}</p>;
}

function scroller(): HTMLElement {
  const found = box.querySelector<HTMLElement>(".virtual-list");
  if (found === null) throw new Error("there is no list");
  return found;
}

function isCovered(): boolean {
  const { top, left } = scroller().getBoundingClientRect();
  return [1, 0.25 * HEIGHT, 0.5 * HEIGHT, 0.75 * HEIGHT, HEIGHT - 2].every(
    (y) => document.elementFromPoint(left + 10, top + y)?.closest(".virtual-list-row") != null,
  );
}

function nameAt(y: number): string {
  const { top, left } = scroller().getBoundingClientRect();
  return document.elementFromPoint(left + 10, top + y)?.textContent ?? "";
}

/** Wait until the page has been painted and has settled; every frame on the way is looked at. */
async function settle(): Promise<void> {
  for (let frame = 0; frame < 8; frame += 1) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    frames.push(isCovered());
  }
}

/** Do something within a frame; the same frame is painted with what it led to. */
async function within(act: () => void): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(resolve));
  act();
  // What is drawn without waiting for another frame.
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  frames.push(isCovered());
}

async function look(after: string): Promise<void> {
  await settle();
  const list = scroller();
  seen.push({
    after,
    first: nameAt(1),
    last: nameAt(HEIGHT - 2),
    covered: isCovered(),
    away: list.scrollHeight - list.clientHeight - list.scrollTop,
    rows: list.querySelectorAll(".virtual-list-row").length,
    atEnd,
  });
}

function rows(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, place) => from + place);
}

async function play(): Promise<void> {
  names = rows(0, 100_000);
  draw(true);
  await look("opened");
  names = rows(0, 100_500);
  draw(true);
  await look("500 rows came");
  grownBy = 300;
  draw(true);
  await look("the last row grew");
  scroller().scrollTop -= 3_000;
  await look("scrolled up");
  names = rows(0, 101_000);
  draw(true);
  await look("rows came while reading");
  await within(() => handle.current?.show(50_000, "center"));
  await look("row 50000 was shown");
  names = names.filter((name) => name % 2 === 0);
  draw(true);
  await look("every other row was filtered out");
  for (let step = 0; step < 60; step += 1) {
    scroller().scrollTop += step % 3 === 0 ? -700 : 900;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    frames.push(isCovered());
  }
  await look("scrolled about");
  await within(() => handle.current?.toEnd());
  await look("back to the end");
  names = rows(0, 10);
  draw(true);
  await look("all but ten were filtered out");
}

function answer(told: object): void {
  void fetch("answer", { method: "POST", body: JSON.stringify(told) });
}

play().then(
  () => answer({ seen, frames: frames.length, bare: frames.filter((covered) => !covered).length }),
  (failure: unknown) => answer({ failure: String(failure) }),
);
