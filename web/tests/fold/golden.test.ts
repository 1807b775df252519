/** Every fixture of the contract, and some runs of driven agents, come to the very blocks that are stored beside. */
import { expect, test } from "vitest";
import { CAPTURES, FIXTURES, folded, seen } from "./logs";

const AGENT_RUNS = [
  "agno-3.1.10-confirm_two_approved_rejected.1_run",
  "agno-3.1.10-reasoning_model_deltas_then_tool",
  "claude-code-2.1.325-approval_allow",
  "claude-code-2.1.325-disconnect_mid_stream",
  "codex-0.166.0-tool_read_edit",
  "codex-app-server-0.166.0-approval_patch_accept",
  "codex-app-server-0.166.0-unknown_and_malformed",
  "gemini-acp-0.61.0-tool_edit",
  "opencode-1.18.33-tool_ansi_output",
  "pi-0.87.1-rpc_steer_and_follow_up",
  "zot-duplicate_tool_ids",
  "zot-thinking_tool",
];

test("every run of an agent that is named is there", () => {
  expect(AGENT_RUNS.filter((name) => !CAPTURES.some((capture) => capture.name === name))).toEqual([]);
});

test.each([...FIXTURES, ...CAPTURES.filter(({ name }) => AGENT_RUNS.includes(name))])(
  "$name",
  async ({ name, lines }) => {
    const golden = `${JSON.stringify(seen(folded(lines)), null, 1)}\n`;
    await expect(golden).toMatchFileSnapshot(`golden/${name}.golden.json`);
  },
);
