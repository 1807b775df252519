/** What the token is good for. Nothing that it does not allow is offered; until the gateway has told, all is. */
import { computed, signal } from "@preact/signals";
import { get } from "./api";
import { catches } from "./live";
import type { About } from "./resources/work";

/** To decide about what runs do, and to begin runs. Whoever may do either may also look. */
export type Scope = "operate" | "write";

const allowed = signal<readonly string[] | null>(null);

/** Whether the token allows this. */
export function may(scope: Scope): boolean {
  return allowed.value?.includes(scope) ?? true;
}

/** Whether all that the token allows is to look. */
export const isReadOnly = computed(() => !may("operate") && !may("write"));

/** Ask at every beginning of the link: another token may have come by then. Returns how to stop. */
export function keepScopes(): () => void {
  return catches.subscribe(async () => {
    try {
      allowed.value = (await get<About>("about")).scopes;
    } catch {
      // What was known stands until the link is back.
    }
  });
}
