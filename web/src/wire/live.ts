/**
 * The one live connection of this browser. One tab holds it and tells the others; when that tab goes, another takes
 * over where it was. Events carry sequences without holes, so whoever follows a run sees by itself whether one is missing.
 */
import { signal } from "@preact/signals";
import { locked, Refusal } from "./api";
import { address } from "./base";
import { type Told, tell } from "./events";
import { readStream } from "./stream";
import { onToken, token } from "./token";

/** connecting: nothing yet; live: caught up; behind: the connection broke and is being made again. */
export type Link = "connecting" | "live" | "behind";

/** How the connection stands, for everyone to see. */
export const link = signal<Link>("connecting");

/** Whether this tab holds the connection: what is to happen once in a browser happens here. */
export const holds = signal(false);

/** Grows when the link has caught up, and when something went away: a view that holds something reads it anew then. */
export const catches = signal(0);

type Batch = readonly Told[];
type Listener = (batch: Batch) => void;

interface Word {
  readonly lines: readonly string[];
  readonly cursor: string | null;
  readonly link: Link;
  readonly caughtUp: boolean;
}

const LOCK = "runwire.live";
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000];
// Lines that came within one frame are told together: many small messages cost more than one large one.
const GATHER_MS = 40;

const listeners = new Set<Listener>();
let cursor: string | null = null;
let say: (word: Word) => void = hear;

/** Hear every event of every run as it becomes durable, in batches. Returns how to stop. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Let every view of every tab read anew what it holds: something went away, and no event tells of that. */
export function refresh(): void {
  say({ lines: [], cursor: null, link: link.value, caughtUp: true });
}

/** Begin. Called once, by the page. Without locks (an address that is not secure) every tab holds its own connection. */
export function goLive(): void {
  const channel = "BroadcastChannel" in window ? new BroadcastChannel(LOCK) : null;
  say = (word: Word) => {
    hear(word);
    channel?.postMessage(word);
  };
  if (channel !== null) {
    channel.onmessage = (message: MessageEvent<Word | "where">) => {
      if (message.data !== "where") hear(message.data);
      else if (holds.value)
        channel.postMessage({ lines: [], cursor, link: link.value, caughtUp: false } satisfies Word);
    };
    channel.postMessage("where");
  }
  const hold = async () => {
    holds.value = true;
    await holdForEver();
  };
  if (channel === null || navigator.locks === undefined) void hold();
  else void navigator.locks.request(LOCK, hold);
}

function hear(word: Word): void {
  if (word.cursor !== null) cursor = word.cursor;
  link.value = word.link;
  if (word.lines.length > 0) {
    const batch = word.lines.map(tell).filter((told) => told !== null);
    for (const listener of listeners) listener(batch);
  }
  if (word.caughtUp) catches.value += 1;
}

async function holdForEver(): Promise<never> {
  let failures = 0;
  for (;;) {
    try {
      await readFeed(() => {
        failures = 0;
      });
    } catch (failure) {
      if (failure instanceof Refusal && failure.status === 401) await tokenToCome();
      // A cursor that the gateway does not know: another store is there now. Begin from now; views read anew.
      if (failure instanceof Refusal && failure.status === 400) cursor = null;
    }
    say({ lines: [], cursor, link: "behind", caughtUp: false });
    await sleep(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 5_000);
    failures += 1;
  }
}

async function readFeed(settled: () => void): Promise<void> {
  let lines: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let place = cursor;
  let isLive = false;
  const flush = (caughtUp: boolean) => {
    clearTimeout(timer);
    timer = undefined;
    const told = lines;
    lines = [];
    if (told.length > 0 || caughtUp) say({ lines: told, cursor: place, link: isLive ? "live" : "behind", caughtUp });
  };
  const heard = {
    message({ id, event, data }: { id: string | undefined; event: string | undefined; data: string }) {
      if (id !== undefined) place = id;
      if (event === undefined) lines.push(data);
      else if (event === "synced") {
        isLive = true;
        settled();
        flush(true);
      }
    },
    pause() {
      if (lines.length > 0) timer ??= setTimeout(() => flush(false), GATHER_MS);
    },
  };
  try {
    await readStream(address("events/stream"), cursor, heard, new AbortController().signal);
  } finally {
    flush(false);
  }
}

async function tokenToCome(): Promise<void> {
  const old = token();
  await new Promise<void>((resolve) => {
    const look = () => {
      if (token() === old && locked.value) return;
      stopStorage();
      stopLock();
      resolve();
    };
    const stopStorage = onToken(look);
    const stopLock = locked.subscribe((isLocked) => {
      if (!isLocked) queueMicrotask(look);
    });
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
