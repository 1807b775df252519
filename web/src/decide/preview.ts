/** The rules that an approval with another input would make, asked for when typing rests. */
import { useEffect, useState } from "preact/hooks";
import { post, Refusal } from "../wire/api";
import type { Approval, Grants } from "../wire/resources/decisions";
import type { Fields } from "./asked";

const REST_MS = 350;

export interface Preview {
  readonly grants: Grants;
  /** Whether the shown rules are still those of an earlier input. */
  readonly stale: boolean;
  /** Why the gateway would not take this input; nothing when it would. */
  readonly refusal: Refusal | null;
}

/** The rules for `edited`, or those of the call itself where it is null. */
export function usePreview(of: Approval, edited: Fields | null): Preview {
  const [answer, setAnswer] = useState<{ for: string; grants: Grants | null; refusal: Refusal | null } | null>(null);
  const wanted = edited === null ? null : JSON.stringify(edited);
  useEffect(() => {
    if (edited === null || wanted === null) return;
    let dropped = false;
    const timer = setTimeout(() => {
      post<{ grants: Grants }>(`approvals/${encodeURIComponent(of.approval_id)}/preview`, {
        edited_input: edited,
      }).then(
        ({ grants }) => !dropped && setAnswer({ for: wanted, grants, refusal: null }),
        (failure: unknown) =>
          !dropped && setAnswer({ for: wanted, grants: null, refusal: failure instanceof Refusal ? failure : null }),
      );
    }, REST_MS);
    return () => {
      dropped = true;
      clearTimeout(timer);
    };
  }, [of.approval_id, wanted]);
  if (wanted === null) return { grants: of.grants, stale: false, refusal: null };
  const isOf = answer?.for === wanted;
  return { grants: answer?.grants ?? of.grants, stale: !isOf, refusal: isOf ? answer.refusal : null };
}
