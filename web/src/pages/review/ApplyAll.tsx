/** Asks once more before everything that is proposed is written, all of it or nothing. */

import { useEffect, useState } from "preact/hooks";
import { seen } from "../../draw/seen";
import { Dialog } from "../../parts/Dialog";
import { say } from "../../parts/toast";
import { get } from "../../wire/api";
import type { Artifact, Check } from "../../wire/resources/work";
import { applyAll } from "./deciding";
import { type Verdict, verdictAfter, verdictOf, withRivals } from "./verdict";
import { Why } from "./Why";

interface Props {
  readonly runId: string;
  readonly patches: readonly Artifact[];
  readonly onClose: () => void;
  readonly onDecided: () => void;
}

export function ApplyAll({ runId, patches, onClose, onDecided }: Props) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    get<Check>(`runs/${encodeURIComponent(runId)}/patches/check`).then(
      (check) => setVerdict(verdictOf(check)),
      () => undefined,
    );
  }, [runId]);
  const act = () => {
    setBusy(true);
    applyAll(runId, patches).then(
      () => {
        say(`Applied: ${patches.length} ${patches.length === 1 ? "patch" : "patches"}`);
        onDecided();
        onClose();
      },
      (failure: unknown) => {
        setVerdict(verdictAfter(failure, "apply"));
        setBusy(false);
        onDecided();
      },
    );
  };
  return (
    <Dialog title="Apply everything that is proposed?" onClose={onClose}>
      <p>All of these are written, or none of them.</p>
      <ul class="review-paths">
        {patches.map(({ id, target_path, summary }) => (
          <li key={id}>{seen(target_path ?? summary)}</li>
        ))}
      </ul>
      {verdict !== null && <Why verdict={withRivals(verdict, patches, patches)} />}
      <div class="review-buttons">
        <button type="button" class="primary" disabled={busy || patches.length === 0} onClick={act}>
          Apply {patches.length}
        </button>
        <button type="button" onClick={onClose}>
          Leave it
        </button>
      </div>
    </Dialog>
  );
}
