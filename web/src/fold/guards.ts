/** Small questions about values that nobody has looked at, and large ones made of them. */

export type Guard<V> = (value: unknown) => value is V;

/** A field that may be absent. */
export interface Maybe<V> {
  readonly guard: Guard<V>;
}

/** A guard for every field; the compiler sees to it that none is forgotten and that those that may be absent are marked. */
export type Shape<D> = {
  readonly [K in keyof D]-?: Record<never, never> extends Pick<D, K> ? Maybe<Exclude<D[K], undefined>> : Guard<D[K]>;
};

/** A shape of which only the names are known. */
export type Rules = Readonly<Record<string, Guard<unknown> | Maybe<unknown>>>;

export const text = (value: unknown): value is string => typeof value === "string";
export const flag = (value: unknown): value is boolean => typeof value === "boolean";
export const whole = (value: unknown): value is number => Number.isSafeInteger(value);
export const count = (value: unknown): value is number => whole(value) && value >= 0;
export const scalar = (value: unknown): value is string | number | boolean | null =>
  value === null || text(value) || typeof value === "number" || flag(value);
export const fields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** It may be absent, but if it is there it must fit. */
export function maybe<V>(guard: Guard<V>): Maybe<V> {
  return { guard };
}

export function orNull<V>(guard: Guard<V>): Guard<V | null> {
  return (value): value is V | null => value === null || guard(value);
}

export function list<V>(guard: Guard<V>): Guard<V[]> {
  return (value): value is V[] => Array.isArray(value) && value.every(guard);
}

export function oneOf<const V extends string>(...names: readonly V[]): Guard<V> {
  return (value): value is V => names.some((name) => name === value);
}

/** An object with these fields; it may have others. */
export function record<D>(shape: Shape<D> & Rules): Guard<D> {
  const fits = keeps(shape);
  return (value): value is D => fits(value);
}

/** Whether a value keeps the rules. */
export function keeps(rules: Rules): (value: unknown) => boolean {
  const known = Object.entries(rules).map(([name, rule]) =>
    typeof rule === "function" ? { name, guard: rule, absent: false } : { name, guard: rule.guard, absent: true },
  );
  return (value) => {
    if (!fields(value)) return false;
    for (const { name, guard, absent } of known) {
      const found = value[name];
      if (found === undefined ? !absent : !guard(found)) return false;
    }
    return true;
  };
}
