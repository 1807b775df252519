/** Changes to files, as blocks: proposed by the agent, then settled by it or by a person, also after the run. */
import type { EventDataByType as Data } from "@protocol";
import { oneLine, plain } from "../text/harmless";
import type { Block, Edit, EditState } from "./blocks";
import type { Calls } from "./calls";
import type { Timeline } from "./timeline";

type One = Data["tool.edit.proposed"] | Data["tool.file_write.proposed"];
type Many = Data["tool.multi_edit.proposed"];

export class Changes {
  readonly #timeline: Timeline;
  readonly #calls: Calls;
  readonly #edits: Map<string, number>;

  constructor(timeline: Timeline, calls: Calls, of?: Changes) {
    this.#timeline = timeline;
    this.#calls = calls;
    this.#edits = new Map(of === undefined ? [] : of.#edits);
  }

  proposed(data: One | Many): Block {
    const paths = "paths" in data ? data.paths : [data.path];
    const artifactIds = patches(data);
    const block = this.#timeline.make<Edit>(true, (common) => ({
      kind: "edit",
      callId: data.tool_call_id,
      paths: paths.map(plain),
      artifactIds,
      summary: oneLine(data.summary),
      state: "proposed",
      waits: !data.auto_apply,
      by: "",
      reason: "",
      ...common,
    }));
    for (const id of artifactIds) this.#edits.set(id, block.index);
    this.#calls.told(data.tool_call_id);
    return block;
  }

  applied(data: Data["tool.edit.applied"] | Data["tool.multi_edit.applied"]): Block | null {
    return this.#settle(patches(data), "applied", data.applied_by ?? "", "");
  }

  rejected(data: Data["tool.edit.rejected"] | Data["tool.multi_edit.rejected"]): Block | null {
    return this.#settle(patches(data), "rejected", data.rejected_by, data.reason ?? "");
  }

  reverted(data: Data["tool.edit.reverted"] | Data["tool.multi_edit.reverted"]): Block | null {
    return this.#settle(patches(data), "reverted", data.reverted_by, data.reason ?? "");
  }

  #settle(artifactIds: readonly string[], state: EditState, by: string, reason: string): Block | null {
    const known = artifactIds.find((id) => this.#edits.has(id));
    const block = this.#timeline.change(this.#edits.get(known ?? ""));
    if (block?.kind !== "edit") return null;
    block.state = state;
    block.by = oneLine(by);
    block.reason = oneLine(reason);
    this.#timeline.close(block);
    return block;
  }
}

function patches(data: { patch_artifact_id: string } | { patch_artifact_ids: string[] }): readonly string[] {
  return "patch_artifact_ids" in data ? data.patch_artifact_ids : [data.patch_artifact_id];
}
