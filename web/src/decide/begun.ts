/** An answer that somebody has begun. It outlives its card: a long list takes cards away and brings them back. */
import { type Signal, signal } from "@preact/signals";
import type { Scope } from "../wire/resources/decisions";
import type { Draft } from "./InputEditor";

export type Mode = "look" | "edit" | "deny";

export interface Begun {
  readonly mode: Mode;
  /** Why not, and whether the run is to stop. */
  readonly reason: string;
  readonly stop: boolean;
  readonly scope: Scope;
  readonly comment: string;
  /** The input as it was changed; nothing as long as it was not. */
  readonly draft: Draft | null;
  /** What is answered to a question that wants more than a yes; nothing as long as nobody chose. */
  readonly value: string | null;
  /** It is on its way, and no longer something that somebody else could interrupt. */
  readonly sent: boolean;
}

const NOTHING: Begun = {
  mode: "look",
  reason: "",
  stop: false,
  scope: "once",
  comment: "",
  draft: null,
  value: null,
  sent: false,
};
const KEPT = 500;
const all = new Map<string, Signal<Begun>>();

/** The answer that has been begun to a question. */
export function begunOf(approvalId: string): Signal<Begun> {
  const known = all.get(approvalId);
  if (known !== undefined) return known;
  const made = signal(NOTHING);
  all.set(approvalId, made);
  const oldest = all.size > KEPT ? all.keys().next().value : undefined;
  if (oldest !== undefined) all.delete(oldest);
  return made;
}

/** Change a part of it. */
export function goOn(approvalId: string, part: Partial<Begun>): void {
  const begun = begunOf(approvalId);
  begun.value = { ...begun.peek(), ...part };
}
