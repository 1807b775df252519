/** Runs a page in a real browser under the console's own rules, for what an imitation of a browser cannot prove. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const RULES =
  "default-src 'none'; script-src file:; img-src data:; require-trusted-types-for 'script'; " +
  "trusted-types dompurify runwire 'allow-duplicates'";

/** Give the page of this module some input; what it hands to `answer` comes back. */
export async function inChromium(module: URL, input: unknown): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "runwire-page-"));
  try {
    await writeFile(join(folder, "page.js"), await bundled(module));
    const escaped = JSON.stringify(input).replaceAll("<", "\\u003c");
    const page = join(folder, "page.html");
    await writeFile(
      page,
      `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${RULES}">
       <body><script type="application/json" id="input">${escaped}</script><script src="page.js"></script>`,
    );
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${join(folder, "profile")}`];
    const dom = await opened([...flags, "--virtual-time-budget=2000", "--dump-dom", pathToFileURL(page).href]);
    const told = /data-answer="([^"]*)"/.exec(dom)?.[1];
    if (told === undefined) throw new Error(`the page did not answer:\n${dom.slice(0, 2_000)}`);
    return JSON.parse(decodeURIComponent(told));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The same in real time, frame by frame: the page posts its answer to `answer` when it has seen enough. */
export async function inLiveChromium(module: URL): Promise<unknown> {
  const code = await bundled(module);
  const folder = await mkdtemp(join(tmpdir(), "runwire-page-"));
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => server.emit("answer", Buffer.concat(pieces).toString()));
      response.end();
      return;
    }
    const isCode = request.url === "/page.js";
    response.setHeader("content-type", isCode ? "text/javascript" : "text/html; charset=utf-8");
    response.end(isCode ? code : '<!doctype html><body><script src="page.js"></script>');
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${join(folder, "profile")}`];
  const answered = once(server, "answer");
  const browser = await started([...flags, "--remote-debugging-port=0", `http://127.0.0.1:${port}/`]);
  try {
    const [answer] = await answered;
    return JSON.parse(String(answer));
  } finally {
    const gone = once(browser, "exit");
    browser.kill();
    await gone;
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function started(flags: readonly string[]): Promise<ChildProcess> {
  for (const name of NAMES) {
    const browser = spawn(name, flags, { stdio: "ignore" });
    try {
      await once(browser, "spawn");
      return browser;
    } catch (failure) {
      if (!(failure instanceof Error && "code" in failure && failure.code === "ENOENT")) throw failure;
    }
  }
  throw new Error("there is no Chromium; `make test` installs one");
}

async function bundled(module: URL): Promise<string> {
  const made = await build({
    configFile: false,
    // As in the console itself; a library is left to find it out otherwise.
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    logLevel: "silent",
    build: { write: false, minify: false, lib: { entry: module.pathname, formats: ["iife"], name: "page" } },
  });
  const outputs = Array.isArray(made) ? made : [made];
  for (const output of outputs) {
    const chunk = "output" in output ? output.output.find((one) => one.type === "chunk") : undefined;
    if (chunk?.type === "chunk") return chunk.code;
  }
  throw new Error(`nothing came of ${module.pathname}`);
}

async function opened(flags: readonly string[]): Promise<string> {
  for (const name of NAMES) {
    try {
      return (await promisify(execFile)(name, flags, { maxBuffer: 64 * 1_048_576, timeout: 120_000 })).stdout;
    } catch (failure) {
      if (!(failure instanceof Error && "code" in failure && failure.code === "ENOENT")) throw failure;
    }
  }
  throw new Error("there is no Chromium; `make test` installs one");
}
