/** The audit, read to its end page by page, and further as it grows. */
import { get } from "../../wire/api";
import type { Query } from "../../wire/base";
import type { AuditEntry } from "../../wire/resources/accounts";

interface Page {
  readonly data: readonly AuditEntry[];
  readonly has_more: boolean;
  readonly next_cursor: string;
}

export interface Read {
  readonly entries: readonly AuditEntry[];
  /** Where to read on. */
  readonly cursor: string;
  readonly isEnd: boolean;
}

const AT_ONCE = 1_000;

/** Every fact that fits, oldest first, in pages; from a cursor only what came after it. */
export async function* facts(query: Query, from: string | undefined, signal: AbortSignal): AsyncGenerator<Read> {
  let cursor = from;
  for (;;) {
    const page: Page = await get<Page>("audit", { ...query, limit: AT_ONCE, cursor }, signal);
    cursor = page.next_cursor;
    yield { entries: page.data, cursor, isEnd: !page.has_more };
    if (!page.has_more) return;
  }
}
