/** Why a patch does not fit, in words, and what can be done about it. */
import { Refusal } from "../../wire/api";
import type { Artifact, Check } from "../../wire/resources/work";

/** What keeps a patch from being applied or taken back. */
export interface Verdict {
  readonly what: string;
  readonly hint: string;
  /** The file as the patch needs it and as it is, when that is the reason. */
  readonly drift: { readonly path: string; readonly expected: string; readonly actual: string } | null;
}

/** The same with one more reason, if it is known: a patch of this run has changed the file in between. */
export function withRivals(verdict: Verdict, patches: readonly Artifact[], all: readonly Artifact[]): Verdict {
  const path = verdict.drift?.path;
  const mine = patches.filter(({ target_path }) => target_path === path);
  const oldest = mine.map(({ created_at }) => created_at).sort()[0];
  if (path === undefined || oldest === undefined) return verdict;
  const applied = all.some(
    (one) =>
      one.target_path === path && one.reverted_at === null && (one.applied_at ?? "") > oldest && !mine.includes(one),
  );
  if (applied) return { ...verdict, what: `${verdict.what} Another patch of this run to it was applied in between.` };
  if (mine.length < 2) return verdict;
  return {
    ...verdict,
    what: `${verdict.what} ${mine.length} of these patches change it; they may exclude each other.`,
  };
}

/** From a question asked before. */
export function verdictOf(check: Check): Verdict | null {
  if (check.fits) return null;
  const verdict = explained(check.code ?? "", check.message, check.hint, check, check.verb);
  const deed = check.verb === "apply" ? "applied" : "taken back";
  return { ...verdict, what: `It cannot be ${deed} now: ${verdict.what}.` };
}

/** From a refusal that came after. */
export function verdictAfter(failure: unknown, verb: Check["verb"]): Verdict {
  if (!(failure instanceof Refusal)) return { what: String(failure), hint: "", drift: null };
  const { path, expected, actual } = failure.details;
  const word = (value: unknown) => (typeof value === "string" ? value : null);
  const facts = { path: word(path), expected: word(expected), actual: word(actual) };
  const verdict = explained(failure.code, failure.message, failure.hint, facts, verb);
  return { ...verdict, what: `Nothing was written: ${verdict.what}.` };
}

type Facts = Pick<Check, "path" | "expected" | "actual">;

function explained(code: string, message: string, hint: string, facts: Facts, verb: Check["verb"]): Verdict {
  const { path, expected, actual } = facts;
  if (code !== "workspace_drifted" || path === null || expected === null || actual === null) {
    return { what: message, hint, drift: null };
  }
  return { what: drifted(path, expected, actual, verb), hint, drift: { path, expected, actual } };
}

function drifted(path: string, expected: string, actual: string, verb: Check["verb"]): string {
  const since = verb === "apply" ? "the patch was made" : "the patch was applied";
  if (actual === "absent") return `${path} is gone since ${since}`;
  if (expected === "absent") return `${path} should not be there yet, but is`;
  return `${path} has changed since ${since}`;
}
