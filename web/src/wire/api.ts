/** Asking the gateway. Every refusal becomes a `Refusal` that says what, then what to do. */
import { signal } from "@preact/signals";
import { address, type Query } from "./base";
import { token } from "./token";

/** Whether the gateway wants a token that we do not have. The shell asks for one then. */
export const locked = signal(false);

/** The gateway said no, or nobody answered (`status` 0). */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    readonly details: Record<string, unknown>,
  ) {
    super(message);
    this.name = "Refusal";
  }
}

interface ErrorBody {
  error?: { code?: string; message?: string; hint?: string; details?: Record<string, unknown> };
}

/** Read one resource or list. */
export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await (await ask("GET", address(path, query), signal ? { signal } : {})).json()) as T;
}

/** Do something, safely repeatable: the same key is sent when a lost answer makes us try again. */
export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  const key = crypto.randomUUID();
  const init = {
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", "idempotency-key": key },
  };
  try {
    return (await (await ask("POST", address(path), init)).json()) as T;
  } catch (failure) {
    if (!(failure instanceof Refusal) || failure.status !== 0) throw failure;
    return (await (await ask("POST", address(path), init)).json()) as T;
  }
}

/** Remove something. */
export async function remove(path: string): Promise<void> {
  await ask("DELETE", address(path));
}

/** Read text, such as a diff. */
export async function text(path: string, query?: Query, headers: Record<string, string> = {}): Promise<string> {
  return (await ask("GET", address(path, query), { headers })).text();
}

/** Read bytes, such as an image. */
export async function blob(path: string): Promise<Blob> {
  return (await ask("GET", address(path))).blob();
}

/** Ask, with the token; an answer that is not good is thrown. */
export async function ask(method: string, url: URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const proof = token();
  if (proof !== null) headers.set("authorization", `Bearer ${proof}`);
  let answer: Response;
  try {
    answer = await fetch(url, { ...init, method, headers, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === "AbortError") throw failure;
    throw new Refusal(0, "unreachable", "The gateway does not answer.", "Is `runwire up` still running?", {});
  }
  if (answer.ok) {
    locked.value = false;
    return answer;
  }
  throw await refusal(answer);
}

async function refusal(answer: Response): Promise<Refusal> {
  if (answer.status === 401) locked.value = true;
  let body: ErrorBody = {};
  try {
    body = (await answer.json()) as ErrorBody;
  } catch {
    // Not ours: a proxy's page, say. The status is all that there is.
  }
  const told = body.error ?? {};
  return new Refusal(
    answer.status,
    told.code ?? "unexpected",
    told.message ?? `The gateway answered ${answer.status}.`,
    told.hint ?? "",
    told.details ?? {},
  );
}
