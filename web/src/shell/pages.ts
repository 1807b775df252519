/** Every page: its path, its name, and where its code is. Code is loaded when a page is first opened. */
import type { ComponentType } from "preact";
import type { Place } from "../parts/route";
import { may, type Scope } from "../wire/scopes";

export interface Page {
  /** The first word of its path. */
  readonly path: string;
  /** Its name in the menu; nothing for a page that is reached from another one. */
  readonly menu: string | null;
  /** The second key of "g …" that opens it. */
  readonly key: string | null;
  /** What a token must allow for it to be of use. */
  readonly needs?: Scope;
  readonly load: () => Promise<{ readonly default: ComponentType<{ place: Place }> }>;
}

export const PAGES: readonly Page[] = [
  { path: "", menu: "Agents", key: "h", load: () => import("../pages/home/Home") },
  { path: "approvals", menu: "Approvals", key: "a", load: () => import("../pages/approvals/Approvals") },
  { path: "new", menu: "New task", key: "n", needs: "write", load: () => import("../pages/start/Start") },
  { path: "audit", menu: "Audit", key: "u", load: () => import("../pages/audit/Audit") },
  { path: "usage", menu: "Usage", key: "c", load: () => import("../pages/usage/Usage") },
  { path: "runs", menu: null, key: null, load: () => import("../pages/run/Run") },
  { path: "review", menu: null, key: null, load: () => import("../pages/review/Review") },
];

/** The page of a path, if there is one. */
export function pageOf(place: Place): Page | undefined {
  const first = place.path[0] ?? "";
  return PAGES.find((page) => page.path === first);
}

/** Whether the token allows what the page is there for. */
export function isAllowed({ needs }: Page): boolean {
  return needs === undefined || may(needs);
}
