/** What was fetched for a card and never changes. A card that comes back has it at once, and keeps its height. */
import { useEffect, useState } from "preact/hooks";

export interface Fetched<T> {
  /** Nothing while it is on its way. */
  readonly value: T | null;
  readonly failure: unknown;
}

/** Keeps the last `kept` answers of `load`. */
export class Fetcher<T> {
  private readonly known = new Map<string, T>();
  private readonly coming = new Map<string, Promise<T>>();

  constructor(
    private readonly load: (key: string) => Promise<T>,
    private readonly kept = 100,
  ) {}

  /** The answer, at once if it is known. */
  use(key: string): Fetched<T> {
    const [told, setTold] = useState<{ key: string } & Fetched<T>>({ key, value: null, failure: null });
    useEffect(() => {
      if (this.known.has(key)) return;
      let gone = false;
      this.get(key).then(
        (value) => gone || setTold({ key, value, failure: null }),
        (failure: unknown) => gone || setTold({ key, value: null, failure }),
      );
      return () => {
        gone = true;
      };
    }, [key]);
    const value = this.known.get(key);
    if (value !== undefined) return { value, failure: null };
    return told.key === key ? told : { value: null, failure: null };
  }

  private get(key: string): Promise<T> {
    const found = this.coming.get(key);
    if (found !== undefined) return found;
    const coming = this.load(key)
      .then((value) => {
        const oldest = this.known.size < this.kept ? undefined : this.known.keys().next().value;
        if (oldest !== undefined) this.known.delete(oldest);
        this.known.set(key, value);
        return value;
      })
      .finally(() => this.coming.delete(key));
    this.coming.set(key, coming);
    return coming;
  }
}
