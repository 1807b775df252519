/** Names of those who act, as they are told: people and tokens by name, and what decides without one. Pure. */

/** Whether a person (or a token that somebody holds) did it, and not a rule that somebody once made. */
export function isPerson(who: string): boolean {
  return who !== "" && who !== "policy" && who !== "system" && !isGrant(who);
}

/** The name in few words. */
export function nameOf(who: string): string {
  return isGrant(who) ? "a standing permission" : who;
}

function isGrant(who: string): boolean {
  return who.startsWith("grant:");
}
