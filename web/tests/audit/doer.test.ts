/** People are told from rules. */
import { expect, test } from "vitest";
import { isPerson, nameOf } from "../../src/pages/audit/doer";

test.each([
  ["operator", true],
  ["ci-token", true],
  ["", false],
  ["policy", false],
  ["system", false],
  ["grant:perm_1,perm_2", false],
])("“%s” is a person: %s", (who, expected) => {
  expect(isPerson(who)).toBe(expected);
});

test("a grant is called what it is, anybody else by name", () => {
  expect(nameOf("grant:perm_1")).toBe("a standing permission");
  expect(nameOf("ann")).toBe("ann");
});
