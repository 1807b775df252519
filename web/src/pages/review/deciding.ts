/** What can be done with a patch. */
import { post } from "../../wire/api";
import type { Artifact } from "../../wire/resources/work";
import { may } from "../../wire/scopes";

export type Deed = "apply" | "reject" | "revert";

export type Standing = "proposed" | "applied" | "rejected" | "reverted" | "unknown";

/** Where it stands. A patch that was taken back keeps the status that it had, and the moment says so. */
export function standingOf({ status, reverted_at }: Artifact): Standing {
  if (reverted_at !== null) return "reverted";
  return status === "proposed" || status === "applied" || status === "rejected" ? status : "unknown";
}

/** What the token and its state allow: a proposed one is applied or rejected, an applied one taken back. */
export function deedsFor(patch: Artifact): readonly Deed[] {
  const standing = standingOf(patch);
  if (!may("operate")) return [];
  if (standing === "proposed") return ["apply", "reject"];
  return standing === "applied" ? ["revert"] : [];
}

/** Do it. A refusal leaves everything as it was. */
export async function decide(patch: Artifact, deed: Deed, reason: string): Promise<void> {
  await post(`artifacts/${encodeURIComponent(patch.id)}/${deed}`, deed === "apply" ? {} : { reason });
}

/** Apply several at once, all or none; exactly those that the reader saw. */
export async function applyAll(runId: string, patches: readonly Artifact[]): Promise<void> {
  await post(`runs/${encodeURIComponent(runId)}/patches/apply`, { artifact_ids: patches.map(({ id }) => id) });
}
