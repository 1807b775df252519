/**
 * What the data of each known type must look like. Whoever reads an event asks here first; what does not fit is shown
 * as it came. Fields that nobody knows are let through: a later release may have added them.
 */
import type { EventDataByType, EventType } from "@protocol";
import {
  count,
  fields,
  flag,
  type Guard,
  keeps,
  list,
  maybe,
  oneOf,
  orNull,
  type Rules,
  record,
  type Shape,
  scalar,
  text,
  whole,
} from "./guards";

const texts = list(text);
const spent = { turns: maybe(count), cost_micros_usd: maybe(count), duration_ms: maybe(count) };
const call = { tool_call_id: text, tool_name: text, kind: text, mcp_server: maybe(text), mcp_tool: maybe(text) };
const ended = { ...call, duration_ms: count, result_artifact_id: maybe(text), output: maybe(text) };
const said = { turn_index: count, block_index: count };
const patch = { tool_call_id: text, path: text, patch_artifact_id: text, summary: text, auto_apply: flag };
const asked = { tool_call_id: text, url: text, header_keys: texts };
const answered = {
  tool_call_id: text,
  status: count,
  duration_ms: count,
  body_artifact_id: maybe(text),
  body_truncated: maybe(flag),
};
const found = { tool_call_id: text, pattern: text, match_count: count, truncated: maybe(flag) };
const place = (value: unknown): value is number => whole(value) && value >= -1;
const digest = (value: unknown): value is string => text(value) && /^sha256:[0-9a-f]{64}$/.test(value);
const state = oneOf("idle", "working", "blocked", "done", "error");

const SHAPES: { readonly [T in EventType]: Shape<Omit<EventDataByType[T], "redacted_paths">> } = {
  "run.queued": {
    kind: text,
    model: orNull(text),
    provider: orNull(text),
    workspace_path: orNull(text),
    workspace_mode: orNull(text),
    prior_run_id: maybe(orNull(text)),
    agent: maybe(text),
    parent_run_id: maybe(text),
    input: maybe(fields),
  },
  "run.started": { worker_id: text, lease_until: maybe(orNull(text)) },
  "run.finished": { final_status: maybe(text), turns: count, cost_micros_usd: count, duration_ms: count },
  "run.failed": { ...spent, code: text, message: text, retriable: maybe(flag), turns: count },
  "run.cancelled": { ...spent, by: text, reason: maybe(text) },
  "run.resumed_from_event": {
    from_run_id: text,
    from_sequence: count,
    prior_cost_micros_usd: count,
    checkpoint_id: maybe(text),
  },
  "run.checkpoint_saved": { checkpoint_id: text },
  "turn.started": {
    turn_index: count,
    model: orNull(text),
    provider: orNull(text),
    input_tokens_estimate: maybe(orNull(count)),
  },
  "turn.completed": {
    turn_index: count,
    input_tokens: count,
    output_tokens: count,
    cached_input_tokens: maybe(count),
    cost_micros_usd: count,
    duration_ms: count,
    tool_calls: count,
    stop_reason: text,
  },
  "turn.failed": {
    turn_index: count,
    code: text,
    message: text,
    will_retry: maybe(flag),
    input_tokens: maybe(count),
    output_tokens: maybe(count),
    cost_micros_usd: maybe(count),
  },
  "assistant.text_delta": { ...said, delta: text },
  "assistant.text_complete": { ...said, text },
  "assistant.tool_call_proposed": { turn_index: count, tool_call_id: text, tool_name: text, input: fields },
  "assistant.final_answer": { turn_index: count, summary: text },
  "user.message": { turn_index: count, text, by: maybe(text) },
  "user.attachment": { turn_index: count, kind: text, mime: text, artifact_id: text },
  "tool.invoked": { ...call, turn_index: count, timeout_ms: maybe(count) },
  "tool.started": {
    ...call,
    turn_index: maybe(count),
    timeout_ms: maybe(count),
    input: maybe(fields),
    changed_by: maybe(text),
  },
  "tool.completed": { ...ended, summary: maybe(text), result: maybe(text) },
  "tool.failed": { ...ended, code: text, message: text, summary: maybe(text), result: maybe(text) },
  "tool.cancelled": { ...ended, by: text, reason: maybe(text) },
  "tool.timed_out": { ...ended, limit: text, message: text },
  "tool.shell.command": { tool_call_id: text, argv: texts, cwd: text, env_keys: texts, sandbox_layer: text },
  "tool.shell.output_chunk": {
    tool_call_id: text,
    stream: oneOf("stdout", "stderr"),
    data: text,
    byte_offset: count,
  },
  "tool.shell.exited": {
    tool_call_id: text,
    exit_code: orNull(whole),
    signal: maybe(orNull(text)),
    stdout_bytes: count,
    stderr_bytes: count,
    truncated: maybe(flag),
  },
  "tool.glob.completed": { ...found, matches: texts },
  "tool.grep.completed": {
    ...found,
    files_searched: count,
    matches: list(record<{ path: string; line: number; text: string }>({ path: text, line: count, text })),
  },
  "tool.file_read.completed": {
    tool_call_id: text,
    path: text,
    size_bytes: count,
    lines: count,
    snippet_artifact_id: maybe(text),
  },
  "tool.todo_write.updated": {
    tool_call_id: text,
    todos: list(record<{ content: string; status: string }>({ content: text, status: text })),
  },
  "tool.http.requested": { ...asked, method: text },
  "tool.http.response": answered,
  "tool.web_fetch.requested": { ...asked, method: maybe(text) },
  "tool.web_fetch.response": { ...answered, extracted_text_artifact_id: maybe(text) },
  "tool.web_search.requested": { tool_call_id: text, query: text, provider: maybe(text) },
  "tool.web_search.response": {
    ...answered,
    hits: list(
      record<{ title: string; url: string; snippet?: string }>({ title: text, url: text, snippet: maybe(text) }),
    ),
    hit_count: count,
  },
  "approval.requested": {
    approval_id: text,
    tool_call_id: orNull(text),
    kind: text,
    summary: text,
    policy_reason: text,
    expires_at: maybe(text),
    input: maybe(fields),
    input_digest: maybe(text),
    effects: maybe(texts),
  },
  "approval.resolved": {
    approval_id: text,
    decision: oneOf("approved", "denied"),
    by: text,
    comment: maybe(text),
    scope: maybe(text),
    edited_input: maybe(fields),
    stop: maybe(flag),
  },
  "approval.timed_out": { approval_id: text, after_seconds: count },
  "cost.tick": {
    cumulative_input_tokens: count,
    cumulative_output_tokens: count,
    cumulative_cost_micros_usd: count,
    task_budget_micros_usd: orNull(count),
    task_budget_remaining_micros_usd: orNull(whole),
    cumulative_cached_input_tokens: maybe(count),
  },
  "cost.budget_warning": {
    threshold_pct: count,
    cumulative_cost_micros_usd: count,
    task_budget_micros_usd: count,
  },
  "cost.budget_exceeded": { cumulative_cost_micros_usd: count, task_budget_micros_usd: count, action: text },
  "policy.tool_blocked": {
    ...call,
    kind: maybe(text),
    reason: text,
    policy_id: maybe(text),
    result: maybe(text),
  },
  "policy.model_rewrote": { from_model: text, to_model: text, reason: text },
  "error.tool_unavailable": { tool_name: text, reason: text },
  "error.model_capability_missing": { model: text, missing_capability: text, fallback_strategy: orNull(text) },
  "error.upstream": {
    provider: text,
    status: orNull(whole),
    message: text,
    retriable: flag,
    attempt: count,
    max_attempts: count,
  },
  "gap.events_pruned": {
    first_pruned_sequence: count,
    last_pruned_sequence: count,
    pruned_at: text,
    reason: text,
    anchors: maybe(list(record<{ sequence: number; hash: string }>({ sequence: count, hash: digest }))),
  },
  "gap.run_disconnected": { since_sequence: place, since_at: text, reason: text },
  "tool.edit.proposed": patch,
  "tool.edit.applied": { tool_call_id: text, patch_artifact_id: text, applied_at: text, applied_by: maybe(text) },
  "tool.edit.rejected": {
    patch_artifact_id: text,
    rejected_by: text,
    reason: maybe(text),
    tool_call_id: maybe(text),
  },
  "tool.edit.reverted": {
    patch_artifact_id: text,
    reverted_by: text,
    reason: maybe(text),
    tool_call_id: maybe(text),
    inverse_artifact_id: maybe(text),
  },
  "tool.multi_edit.proposed": {
    tool_call_id: text,
    paths: texts,
    patch_artifact_ids: texts,
    summary: text,
    auto_apply: flag,
  },
  "tool.multi_edit.applied": {
    tool_call_id: text,
    patch_artifact_ids: texts,
    applied_at: text,
    applied_by: maybe(text),
  },
  "tool.multi_edit.rejected": {
    patch_artifact_ids: texts,
    rejected_by: text,
    reason: maybe(text),
    tool_call_id: maybe(text),
  },
  "tool.multi_edit.reverted": {
    patch_artifact_ids: texts,
    reverted_by: text,
    reason: maybe(text),
    tool_call_id: maybe(text),
    inverse_artifact_ids: maybe(texts),
  },
  "tool.file_write.proposed": patch,
  "artifact.created": {
    artifact_id: text,
    kind: text,
    size_bytes: count,
    summary: text,
    created_by_event_id: maybe(orNull(text)),
  },
  "artifact.referenced": { artifact_id: text, by_event_id: text, relation: text },
  "artifact.updated": { artifact_id: text, field: text, old_value: scalar, new_value: scalar },
  "assistant.thinking_delta": { ...said, delta: text },
  "assistant.thinking_complete": { ...said, text, signature: maybe(text) },
  "assistant.tool_input_delta": { turn_index: count, tool_call_id: text, tool_name: maybe(text), delta: text },
  "assistant.media": { ...said, mime: text, artifact_id: text, summary: maybe(text) },
  "run.child_started": { child_run_id: text, agent: text, summary: text, tool_call_id: maybe(text) },
  "run.child_finished": {
    child_run_id: text,
    final_status: text,
    summary: maybe(text),
    cost_micros_usd: maybe(count),
  },
  "run.branched": { branch_run_id: text, from_sequence: count, reason: maybe(text) },
  "agent.state_changed": { from: state, to: state, reason: maybe(text) },
  "agent.unparsed": { raw: text, error: text },
};

/** Whether data is what the type says it is. */
export function guardOf<T extends EventType>(type: T): Guard<EventDataByType[T]> {
  const rules: Rules = SHAPES[type];
  const fits = keeps({ ...rules, redacted_paths: maybe(texts) });
  return (value): value is EventDataByType[T] => fits(value);
}
