/** Envelopes as they come over the wire: the line is kept as it was stored, beside what it says. */
import type { EnvelopeOf } from "@protocol";

/** An event whose data nobody has looked at. */
export type Envelope = EnvelopeOf<string, Record<string, unknown>>;

/** One event and the very text that the gateway stores. */
export interface Told {
  readonly line: string;
  readonly event: Envelope;
}

/** Read one line; something that is no envelope is nothing. */
export function tell(line: string): Told | null {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return null;
  }
  return isEnvelope(event) ? { line, event } : null;
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== "object" || value === null) return false;
  const found = value as Partial<Envelope>;
  return (
    typeof found.run_id === "string" &&
    typeof found.sequence === "number" &&
    typeof found.type === "string" &&
    typeof found.occurred_at === "string" &&
    typeof found.data === "object" &&
    found.data !== null
  );
}
