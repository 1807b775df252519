/** Models are offered by what was used and what has a key. */
import { expect, test } from "vitest";
import { suggested } from "../../src/pages/start/choices";

test("models that were used come first, each once, by the name that starts them again", () => {
  const runs = [
    { provider: "scripted", model: "/a.json" },
    { provider: null, model: "haiku" },
    { provider: null, model: null },
    { provider: "scripted", model: "/a.json" },
  ];
  expect(suggested(runs, [])).toEqual(["scripted:/a.json", "haiku", "scripted:"]);
});

test("a provider with a key is offered, also one that only this gateway knows", () => {
  expect(suggested([], ["anthropic", "local"])).toEqual(
    expect.arrayContaining([expect.stringMatching(/^anthropic:/), "local:", "scripted:"]),
  );
});
