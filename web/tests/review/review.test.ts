// @vitest-environment happy-dom
/** Going through patches, remembering what was read, and saying why one does not fit. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { deedsFor, standingOf } from "../../src/pages/review/deciding";
import { nextUnread, step } from "../../src/pages/review/reading";
import { verdictAfter, verdictOf, withRivals } from "../../src/pages/review/verdict";
import { Refusal } from "../../src/wire/api";
import type { Artifact, Check } from "../../src/wire/resources/work";

function patch(id: string, facts: Partial<Artifact> = {}): Artifact {
  return {
    id,
    kind: "patch",
    status: "proposed",
    target_path: `${id}.py`,
    diff: null,
    stats: { hunks: 2, additions: 1, deletions: 1 },
    summary: "",
    mime: "text/x-diff",
    size_bytes: 1,
    created_at: "2026-11-16T07:00:00Z",
    applied_at: null,
    rejected_at: null,
    reverted_at: null,
    inverse_of: null,
    task_id: null,
    produced_by_run_id: null,
    produced_by_tool_call_id: null,
    ...facts,
  };
}

const THREE = [patch("a"), patch("b", { stats: null }), patch("c")];

describe("stepping from hunk to hunk", () => {
  test("goes on in the next patch, and stops at a patch without hunks too", () => {
    const seen = [{ patch: 0, hunk: 0 }];
    for (let steps = 0; steps < 6; steps += 1) seen.push(step(THREE, seen.at(-1) ?? { patch: 0, hunk: 0 }, 1));
    expect(seen.map(({ patch, hunk }) => `${patch}.${hunk}`)).toEqual([
      "0.0",
      "0.1",
      "1.0",
      "2.0",
      "2.1",
      "2.1",
      "2.1",
    ]);
  });

  test("goes back to the last hunk of the patch before, and stays at the beginning", () => {
    expect(step(THREE, { patch: 1, hunk: 0 }, -1)).toEqual({ patch: 0, hunk: 1 });
    expect(step(THREE, { patch: 0, hunk: 0 }, -1)).toEqual({ patch: 0, hunk: 0 });
  });

  test("begins anew when the patch that was open is gone", () => {
    expect(step([], { patch: 3, hunk: 1 }, 1)).toEqual({ patch: 0, hunk: 0 });
  });

  test("finds the next unread hunk, going round, until all are read", () => {
    const read = new Map([
      ["a", new Set([1])],
      ["b", new Set([0])],
      ["c", new Set([0, 1])],
    ]);
    expect(nextUnread(THREE, { patch: 2, hunk: 1 }, (id) => read.get(id) ?? new Set())).toEqual({ patch: 0, hunk: 0 });
    expect(nextUnread(THREE, { patch: 0, hunk: 0 }, () => new Set([0, 1]))).toBeNull();
  });
});

describe("what was read", () => {
  beforeEach(() => {
    localStorage.clear();
    vi.resetModules();
  });

  test("is still known when the page is opened again", async () => {
    const before = await import("../../src/pages/review/read");
    before.markHunks("art_1", [0, 2], true);
    before.markHunks("art_1", [2], false);
    vi.resetModules();
    const after = await import("../../src/pages/review/read");
    expect([...after.readHunks("art_1")]).toEqual([0]);
    expect([...after.readHunks("art_2")]).toEqual([]);
  });

  test.each(["", "null", "{}", "[1]", '[["a"]]', "[[1, 2]]", "{"])(
    "is nothing when the browser kept nonsense: %s",
    async (kept) => {
      localStorage.setItem("runwire.read", kept);
      const { readHunks } = await import("../../src/pages/review/read");
      expect([...readHunks("a")]).toEqual([]);
    },
  );

  test("does not grow for ever", async () => {
    const { markHunks, readHunks } = await import("../../src/pages/review/read");
    for (let number = 0; number < 600; number += 1) markHunks(`art_${number}`, [0], true);
    expect(readHunks("art_0").size).toBe(0);
    expect(readHunks("art_599").size).toBe(1);
  });
});

describe("a patch", () => {
  test("that is proposed is applied or rejected; one that is applied is taken back; others are settled", () => {
    expect(deedsFor(patch("a"))).toEqual(["apply", "reject"]);
    expect(deedsFor(patch("a", { status: "applied" }))).toEqual(["revert"]);
    expect(deedsFor(patch("a", { status: "rejected" }))).toEqual([]);
    expect(deedsFor(patch("a", { status: "applied", reverted_at: "2026-11-16T08:00:00Z" }))).toEqual([]);
  });

  test("with a status from the future can be read, and nothing else", () => {
    expect(standingOf(patch("a", { status: "merged" }))).toBe("unknown");
    expect(deedsFor(patch("a", { status: "merged" }))).toEqual([]);
  });
});

describe("a patch that does not fit", () => {
  const check: Check = {
    artifact_ids: ["a"],
    verb: "apply",
    fits: false,
    code: "workspace_drifted",
    message: "'a.py' is sha256:2, not sha256:1",
    hint: "have the change made again",
    path: "a.py",
    expected: "sha256:1",
    actual: "sha256:2",
  };

  test("says before anybody decides which file differs, both hashes, and what to do", () => {
    expect(verdictOf(check)).toEqual({
      what: "It cannot be applied now: a.py has changed since the patch was made.",
      hint: "have the change made again",
      drift: { path: "a.py", expected: "sha256:1", actual: "sha256:2" },
    });
  });

  test("says nothing when it fits", () => {
    expect(verdictOf({ ...check, fits: true, code: null })).toBeNull();
  });

  test("says after a refusal that nothing was written", () => {
    const { path, expected, actual } = check;
    const refusal = new Refusal(409, "workspace_drifted", check.message, check.hint, {
      path,
      expected,
      actual: "absent",
    });
    expect(verdictAfter(refusal, "revert").what).toBe("Nothing was written: a.py is gone since the patch was applied.");
    expect(verdictAfter(refusal, "revert").drift).toEqual({ path, expected, actual: "absent" });
    expect(actual).toBe("sha256:2");
  });

  test("says that a new file is there already", () => {
    expect(verdictOf({ ...check, expected: "absent" })?.what).toContain("should not be there yet");
  });

  test("passes on what the gateway says of anything else", () => {
    const refusal = new Refusal(409, "patch_redacted", "art_1 was redacted", "make it again", { path: 7 });
    expect(verdictAfter(refusal, "apply")).toEqual({
      what: "Nothing was written: art_1 was redacted.",
      hint: "make it again",
      drift: null,
    });
  });

  test("says when another patch of the run is the reason", () => {
    const verdict = verdictOf(check);
    if (verdict === null) throw new Error("it fits");
    const mine = patch("a");
    const other = patch("x", { target_path: "a.py", status: "applied", applied_at: "2026-11-16T07:30:00Z" });
    expect(withRivals(verdict, [mine], [mine, other]).what).toContain("Another patch of this run to it was applied");
    expect(withRivals(verdict, [mine], [mine, { ...other, reverted_at: "2026-11-16T07:40:00Z" }])).toEqual(verdict);
    expect(withRivals(verdict, [mine, { ...other, applied_at: null }], []).what).toContain("exclude each other");
  });
});
