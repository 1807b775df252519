/** One server-sent stream, read by hand: it carries the token, notices silence, and knows where it was. */
import { createParser } from "eventsource-parser";
import { ask } from "./api";

/** The gateway beats every 10 s; two missed beats and a half mean that nobody is there. */
export const SILENCE_MS = 25_000;

export interface Heard {
  /** A message: its cursor if it has one, its name if it has one, and its data. */
  message(message: { id: string | undefined; event: string | undefined; data: string }): void;
  /** Every piece of bytes has been worked through: a good moment to act on what came. */
  pause(): void;
}

/**
 * Read a stream until it ends, breaks, or falls silent; what came is told as it comes.
 * It never resolves early: whoever wants it to end aborts it.
 */
export async function readStream(url: URL, lastId: string | null, heard: Heard, stop: AbortSignal): Promise<void> {
  const silence = new AbortController();
  const watchdog = watch(() => silence.abort(new Error("silence")));
  const signal = AbortSignal.any([stop, silence.signal]);
  try {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (lastId !== null) headers["last-event-id"] = lastId;
    const answer = await ask("GET", url, { headers, signal });
    if (answer.body === null || answer.status === 204) return;
    const parser = createParser({
      onEvent: (event) => heard.message({ id: event.id, event: event.event, data: event.data }),
    });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watchdog.fed();
      parser.feed(value);
      heard.pause();
    }
  } finally {
    watchdog.end();
  }
}

function watch(silent: () => void) {
  let last = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - last > SILENCE_MS) silent();
  }, SILENCE_MS / 5);
  return {
    fed() {
      last = Date.now();
    },
    end() {
      clearInterval(timer);
    },
  };
}
