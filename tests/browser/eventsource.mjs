// Follow a run with the browser's own EventSource, and tell on stdout, one JSON object a line, what it was told.
//
//   node eventsource.mjs CHROMIUM ORIGIN PATH TOKEN
import { chromium } from "playwright-core";

const [executablePath, origin, path, token] = process.argv.slice(2);
const tell = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const context = await browser.newContext({ extraHTTPHeaders: { authorization: `Bearer ${token}` } });
  const page = await context.newPage();
  let end;
  const over = new Promise((resolve) => (end = resolve));
  // The page must know the function before it can call it.
  await page.exposeFunction("tell", (fact) => {
    tell(fact);
    if (fact.kind === "closed") end();
  });
  // A page of the gateway itself, so that the stream is of the same origin.
  await page.goto(`${origin}/healthz`);
  await page.evaluate((target) => {
    const source = new EventSource(target);
    source.onopen = () => tell({ kind: "open" });
    source.onmessage = (event) => tell({ kind: "message", id: event.lastEventId, data: event.data });
    source.addEventListener("synced", (event) => tell({ kind: "synced", id: event.lastEventId, data: event.data }));
    source.onerror = () => tell({ kind: source.readyState === EventSource.CLOSED ? "closed" : "lost" });
  }, path);
  await over;
} finally {
  await browser.close();
}
