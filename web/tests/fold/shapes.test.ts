/** What the fold takes for an event of a type is what the contract's schema takes for one. */
import { EVENT_TYPES } from "@protocol";
import { expect, test } from "vitest";
import { guardOf } from "../../src/fold/shapes";
import { EXAMPLES, read } from "./logs";

interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const ODD: readonly unknown[] = [null, true, "odd", "", -1, -2, 0, 1.5, 7, [], ["a"], [1], [{}], {}, { a: 1 }];
const KNOWN_WORDS = new Set(
  "$schema $id title description type properties required $defs x-stability items anyOf $ref enum const minimum pattern default additionalProperties".split(
    " ",
  ),
);

test.each(EVENT_TYPES)("%s", (type) => {
  const schema: Schema = JSON.parse(read(`spec/schema/v1/${type}.json`).join("\n"));
  const fits = guardOf(type);
  const example = EXAMPLES.find(({ event }) => event.type === type)?.event.data ?? {};
  expect(Object.keys(schema).filter((word) => !KNOWN_WORDS.has(word))).toEqual([]);
  expect(fits(example)).toBe(true);
  for (const name of Object.keys(schema.properties ?? {})) {
    const { [name]: _, ...without } = example;
    expect([name, "absent", fits(without)]).toEqual([name, "absent", keeps(without, schema, schema)]);
    for (const value of ODD) {
      const changed = { ...example, [name]: value };
      expect([name, value, fits(changed)]).toEqual([name, value, keeps(changed, schema, schema)]);
    }
  }
  expect(fits({ ...example, from_the_future: { a: 1 } })).toBe(true);
  for (const value of ODD) expect([value, fits(value)]).toEqual([value, keeps(value, schema, schema)]);
});

/** As much of JSON Schema as the contract uses. */
function keeps(value: unknown, schema: Schema, root: Schema): boolean {
  if (schema.$ref !== undefined) return keeps(value, root.$defs?.[schema.$ref.split("/").at(-1) ?? ""] ?? {}, root);
  if (schema.anyOf !== undefined) return schema.anyOf.some((one) => keeps(value, one, root));
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  if (schema.const !== undefined && schema.const !== value) return false;
  switch (schema.type) {
    case "string":
      return typeof value === "string" && new RegExp(schema.pattern ?? "").test(value);
    case "integer":
      return Number.isInteger(value) && Number(value) >= (schema.minimum ?? Number.NEGATIVE_INFINITY);
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value) && value.every((item) => keeps(item, schema.items ?? {}, root));
    case "object":
      return keepsFields(value, schema, root);
    default:
      return true;
  }
}

function keepsFields(value: unknown, schema: Schema, root: Schema): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const found = new Map<string, unknown>(Object.entries(value));
  if (schema.required?.some((name) => !found.has(name))) return false;
  return Object.entries(schema.properties ?? {}).every(
    ([name, inner]) => !found.has(name) || keeps(found.get(name), inner, root),
  );
}
