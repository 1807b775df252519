/**
 * A question to a person: exactly what would happen and why it is asked, then the answer, whoever gave it. It changes by
 * itself when it is answered elsewhere. Keys work on it only while it is `active`.
 */
import { useId, useRef } from "preact/hooks";
import { Ago } from "../parts/Ago";
import { nowMs } from "../parts/clock";
import { Trouble } from "../parts/Trouble";
import { duration, moment } from "../text/words";
import { Refusal } from "../wire/api";
import { approval } from "../wire/approvals";
import type { Approval } from "../wire/resources/decisions";
import { may } from "../wire/scopes";
import { Answering } from "./Answering";
import { readAsked } from "./asked";
import { begunOf } from "./begun";
import { Seen } from "./Exact";
import { Verdict } from "./Verdict";
import { What } from "./What";
import "./decide.css";

// Less than this and it is worth hurrying.
const SOON_MS = 120_000;

export function ApprovalCard({ approvalId, active = false }: { approvalId: string; active?: boolean }) {
  const known = approval(approvalId).value;
  if (known === null) return <p class="loading">Loading…</p>;
  if (known instanceof Refusal) return <Trouble failure={known} />;
  return <Card key={approvalId} of={known} active={active} />;
}

function Card({ of, active }: { of: Approval; active: boolean }) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const begun = begunOf(of.approval_id).value;
  const waits = of.status === "pending";
  const asks = question(of);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and a section would be a landmark of the page
    <div ref={box} role="group" class={`decide ${of.status}`} aria-labelledby={id} tabIndex={-1}>
      <header>
        <h3 id={id}>
          <Seen text={asks} />
        </h3>
        <span class="decide-soft">
          asked <Ago at={of.requested_at} />
        </span>
        {waits && of.expires_at !== null && <Expiry at={of.expires_at} />}
      </header>
      {asks !== of.summary && !isShown(of) && (
        <p class="decide-summary">
          <Seen text={of.summary} />
        </p>
      )}
      <What of={of} input={of.input} />
      <dl class="decide-facts">
        {of.policy_reason !== "" && <Fact name="Why it asks" text={of.policy_reason} />}
        <Fact name="Tool" text={of.tool_name} />
        <Fact name="Effects" text={of.effects.join(", ") || "none that is known"} />
        <Fact name="Where" text={of.workspace} />
        {of.tool_call_ids.length > 1 && (
          <Fact name="Calls" text={`${of.tool_call_ids.length} equal calls wait for it`} />
        )}
      </dl>
      {of.input_redacted && <p class="decide-note">A secret was taken out of what is shown here.</p>}
      {waits && may("operate") && <Answering of={of} active={active} onFocusLost={() => box.current?.focus()} />}
      {waits && !may("operate") && <p class="decide-note">It waits for somebody whose token allows an answer.</p>}
      {!waits && <Verdict of={of} lost={begun.mode !== "look" && !begun.sent} />}
    </div>
  );
}

/** What is asked, in a word, where what would happen is shown below anyway. */
function question(of: Approval): string {
  if (of.needs_person) return of.summary;
  const { command, changes, diff } = readAsked(of);
  if (command !== null) return "Run this command?";
  if (changes.length > 0 || diff !== null) return "Make this change?";
  return of.summary || of.tool_name;
}

/** Whether the summary says nothing that the input does not. */
function isShown(of: Approval): boolean {
  const summary = spaced(of.summary);
  return Object.values(of.input).some((value) => typeof value === "string" && spaced(value).includes(summary));
}

function spaced(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Seen text={text} />
      </dd>
    </div>
  );
}

function Expiry({ at }: { at: string }) {
  const left = Date.parse(at) - nowMs.value;
  return (
    <time dateTime={at} title={moment(at)} class={left < SOON_MS ? "decide-soon" : "decide-soft"}>
      {left > 0 ? `expires in ${duration(left)}` : "expires now"}
    </time>
  );
}
