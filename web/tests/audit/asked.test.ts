/** What the address asks is what the gateway is asked. */
import { expect, test } from "vitest";
import { askedOf, queryOf } from "../../src/pages/audit/asked";
import { asCsv, asLines } from "../../src/pages/audit/saving";
import type { AuditEntry } from "../../src/wire/resources/accounts";

const NOW = Date.parse("2026-03-02T12:00:00Z");

function asked(address: string) {
  return queryOf(askedOf(new URLSearchParams(address)), NOW);
}

test("nothing is asked for at first", () => {
  expect(Object.values(asked("")).filter(Boolean)).toEqual([]);
});

test("kind, agent, words and run are handed on", () => {
  expect(asked("type=approval.*&agent=codex&text=rm&run=run_1")).toMatchObject({
    type: "approval.*",
    agent: "codex",
    q: "rm",
    run_id: "run_1",
  });
});

test("a span is told from now", () => {
  expect(asked("time=day").since).toBe("2026-03-01T12:00:00.000Z");
});

test("two moments are told as moments of the world, and count only when chosen", () => {
  const local = "from=2026-03-01T10:00&to=2026-03-01T11:00";
  expect(asked(`time=between&${local}`)).toMatchObject({
    since: new Date("2026-03-01T10:00").toISOString(),
    until: new Date("2026-03-01T11:00").toISOString(),
  });
  expect(asked(local)).toMatchObject({ since: undefined, until: undefined });
});

test.each(["time=constructor", "time=between&from=yesterday"])("“%s” asks for all time", (address) => {
  expect(asked(address).since).toBeUndefined();
});

test("a file has every fact, one a line, and nothing in it can act", () => {
  const entry: AuditEntry = {
    event_id: "evt_1",
    run_id: "run_1",
    task_id: null,
    sequence: 3,
    occurred_at: "2026-01-01T00:00:00Z",
    type: "user.message",
    who: "",
    what: "=cmd(),\n2",
    agent: "native",
    approval_id: null,
    tool_call_id: null,
  };
  expect(asCsv([entry]).split("\r\n")[1]).toBe(
    '2026-01-01T00:00:00Z,native,,"\'=cmd(),\n2",user.message,run_1,3,,,,evt_1',
  );
  expect(
    asLines([entry, entry])
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([entry, entry]);
});
