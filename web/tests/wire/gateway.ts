/** A gateway that answers from the page's side of the wire: real requests, real streams, answers that a test decides. */
import { vi } from "vitest";

// Machines that do many things at once are slow; a test waits for what happens and not for the clock.
vi.setConfig({ testTimeout: 60_000 });

/** Wait until this holds. */
export function until(holds: () => void): Promise<void> {
  return vi.waitFor(holds, { timeout: 30_000 });
}

type Answer = (request: { readonly url: URL; readonly body: unknown }) => unknown;

/** An answer that is no success. */
export class No {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly message: string,
  ) {}
}

export class Gateway {
  /** Every request so far, as "GET panes?limit=200". */
  readonly asked: string[] = [];
  readonly #routes = new Map<string, Answer>();
  readonly #encoder = new TextEncoder();
  #feed: ReadableStreamDefaultController<Uint8Array> | null = null;
  #cursor = 0;

  /** Take the place of the network. */
  constructor() {
    localStorage.clear();
    localStorage.setItem("runwire.token", "rw_test");
    vi.stubGlobal("fetch", (url: URL, init: RequestInit) => this.#answer(url, init));
    // One tab, so that nobody else's words are heard.
    vi.stubGlobal("BroadcastChannel", undefined);
    Reflect.deleteProperty(window, "BroadcastChannel");
  }

  /** Answer requests such as "GET panes"; whatever stands behind the path is in the url. */
  on(request: string, answer: Answer): void {
    this.#routes.set(request, answer);
  }

  /** Tell in one piece that events have become durable, and wait until the page is there to hear it. */
  async say(...events: { type: string; run_id: string; sequence: number; data?: object }[]): Promise<void> {
    await until(() => {
      if (this.#feed === null) throw new Error("nobody listens");
    });
    let told = "";
    for (const event of events) {
      this.#cursor += 1;
      const line = JSON.stringify({
        schema_version: 1,
        event_id: `evt_${this.#cursor}`,
        occurred_at: "2026-01-01T00:00:00.000000000Z",
        data: {},
        ...event,
      });
      told += `id: ${this.#cursor}\ndata: ${line}\n\n`;
    }
    this.#write(told);
  }

  /** Say that the page has heard everything, as after a lost link. */
  async catchUp(): Promise<void> {
    await this.say();
    this.#write("event: synced\ndata: {}\n\n");
  }

  #write(text: string): void {
    this.#feed?.enqueue(this.#encoder.encode(text));
  }

  async #answer(url: URL, init: RequestInit): Promise<Response> {
    const path = url.pathname.replace(/^.*hecate\/v1\//, "");
    if (path === "events/stream") {
      const body = new ReadableStream<Uint8Array>({
        start: (feed) => {
          this.#feed = feed;
        },
      });
      return new Response(body, { status: 200 });
    }
    const request = `${init.method} ${path}`;
    this.asked.push(decodeURIComponent(`${request}${url.search}`));
    const answer = this.#routes.get(request);
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : null;
    const said = answer === undefined ? new No(404, "not_found", `there is no ${path}`) : await answer({ url, body });
    if (said instanceof Response) return said;
    if (said instanceof No) {
      const error = { code: said.code, message: said.message, hint: "", details: {} };
      return new Response(JSON.stringify({ error }), { status: said.status });
    }
    return new Response(said === undefined ? null : JSON.stringify(said), { status: said === undefined ? 204 : 200 });
  }
}

/** A list as the gateway answers one. */
export function list<T>(data: readonly T[], next: string | null = null) {
  return { object: "list", data, has_more: next !== null, next_cursor: next };
}
