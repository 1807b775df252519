/** Shows why a patch does not fit: what was expected, what is there, what to do. */
import type { Verdict } from "./verdict";

export function Why({ verdict }: { verdict: Verdict }) {
  const { what, hint, drift } = verdict;
  return (
    <div class="review-why" role="alert">
      <strong>{what}</strong>
      {drift !== null && (
        <dl>
          <dt>Expected</dt>
          <dd>{drift.expected}</dd>
          <dt>There now</dt>
          <dd>{drift.actual}</dd>
        </dl>
      )}
      {hint !== "" && <p>What to do: {hint}.</p>}
    </div>
  );
}
