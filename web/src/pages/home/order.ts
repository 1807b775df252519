/** In which order runs are shown: those that need somebody, those at work, those that are over; the newest first. Pure. */
import type { Pane } from "../../wire/resources/runs";

export type GroupName = "attention" | "work" | "over";

export interface Group {
  readonly name: GroupName;
  readonly ids: readonly string[];
}

const OVER = new Set(["completed", "failed", "cancelled"]);

/** The runs in groups; a group without any is left out. */
export function grouped(panes: readonly Pane[]): readonly Group[] {
  const sorted = [...panes].sort((one, other) => rank(one) - rank(other) || (one.run_id < other.run_id ? 1 : -1));
  const groups: { name: GroupName; ids: string[] }[] = [
    { name: "attention", ids: [] },
    { name: "work", ids: [] },
    { name: "over", ids: [] },
  ];
  for (const pane of sorted) groups.find(({ name }) => name === groupOf(pane))?.ids.push(pane.run_id);
  return groups.filter(({ ids }) => ids.length > 0);
}

/** Whether nothing in the order has changed. */
export function sameGroups(one: readonly Group[], other: readonly Group[]): boolean {
  return (
    one.length === other.length &&
    one.every((group, index) => {
      const twin = other[index];
      return (
        twin !== undefined &&
        twin.name === group.name &&
        twin.ids.length === group.ids.length &&
        twin.ids.every((id, place) => id === group.ids[place])
      );
    })
  );
}

function groupOf(pane: Pane): GroupName {
  if (pane.attention) return "attention";
  return OVER.has(pane.status) ? "over" : "work";
}

// Somebody who waits for an answer comes before somebody who fell silent, and both before what cannot be helped.
function rank(pane: Pane): number {
  if (!pane.attention) return OVER.has(pane.status) ? 4 : 3;
  if (pane.state === "blocked") return 0;
  return pane.stalled ? 1 : 2;
}
