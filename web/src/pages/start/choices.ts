/** What can be chosen in the form, in words. */
import type { Run } from "../../wire/resources/runs";
import type { Mode } from "./draft";

export const MODES: readonly { readonly mode: Mode; readonly label: string; readonly about: string }[] = [
  { mode: "in_place", label: "In the folder itself", about: "Changes are made right there." },
  {
    mode: "worktree",
    label: "In a git worktree",
    about: "A second checkout of the repository; the folder stays as it is.",
  },
  { mode: "clone", label: "In a clone", about: "A copy of the repository; the folder stays as it is." },
  { mode: "scratch", label: "In an empty folder", about: "A new, empty folder for this task." },
];

export const POLICIES: Readonly<Record<string, string>> = {
  default: "Reads, writes and commands happen by themselves; the network is asked about.",
  ask: "Reads happen by themselves; writes, commands and the network are asked about.",
  read_only: "Reads only; everything else is refused.",
  trust: "Everything happens by itself, inside the sandbox.",
  allow: "The same as trust.",
  deny: "Everything is refused.",
};

export const EXPERIMENTS: readonly { readonly label: string; readonly types: readonly string[] }[] = [
  { label: "Thinking", types: ["assistant.thinking_delta", "assistant.thinking_complete"] },
  { label: "Tool input as it is written", types: ["assistant.tool_input_delta"] },
  { label: "Pictures and sound", types: ["assistant.media"] },
  { label: "Sub-runs", types: ["run.child_started", "run.child_finished"] },
  { label: "Branches", types: ["run.branched"] },
];

const BY_PROVIDER: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["anthropic:claude-sonnet-4-5", "anthropic:claude-opus-4-5", "anthropic:claude-haiku-4-5"],
  openai: ["openai:gpt-5", "openai:gpt-5-mini"],
};

/** Models worth offering: those used lately first, then some of each provider that has a key. */
export function suggested(runs: readonly Pick<Run, "model" | "provider">[], providers: readonly string[]): string[] {
  const used = runs.flatMap(({ model, provider }) =>
    model === null ? [] : [provider === null ? model : `${provider}:${model}`],
  );
  const offered = providers.flatMap((provider) => BY_PROVIDER[provider] ?? [`${provider}:`]);
  return [...new Set([...used, ...offered, "scripted:"])].slice(0, 30);
}
