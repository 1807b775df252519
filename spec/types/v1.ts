// Generated from the payload classes. Do not edit: run `python scripts/generate.py`.

/** One event as it is stored and served. */
export interface EnvelopeOf<T extends string, D> {
  schema_version: "1";
  /** Unique, sortable by creation, stable across replay. */
  event_id: string;
  /** The run that the event belongs to. */
  run_id: string;
  /** Present when the run belongs to a task. */
  task_id?: string;
  /** Present when the run belongs to a session. */
  session_id?: string;
  /** The event's place in its run: 0, 1, 2 and so on. */
  sequence: number;
  /** The server's clock in UTC; order comes from `sequence`. */
  occurred_at: string;
  /** Dotted, lowercase, snake_case. */
  type: T;
  /** What happened, in the shape of `type`. */
  data: D;
}

/** Every known type. */
export const EVENT_TYPES = [
  "run.queued",
  "run.started",
  "run.finished",
  "run.failed",
  "run.cancelled",
  "run.resumed_from_event",
  "run.checkpoint_saved",
  "turn.started",
  "turn.completed",
  "turn.failed",
  "assistant.text_delta",
  "assistant.text_complete",
  "assistant.tool_call_proposed",
  "assistant.final_answer",
  "user.message",
  "user.attachment",
  "tool.invoked",
  "tool.started",
  "tool.completed",
  "tool.failed",
  "tool.cancelled",
  "tool.timed_out",
  "tool.shell.command",
  "tool.shell.output_chunk",
  "tool.shell.exited",
  "tool.glob.completed",
  "tool.grep.completed",
  "tool.file_read.completed",
  "tool.todo_write.updated",
  "tool.http.requested",
  "tool.http.response",
  "tool.web_fetch.requested",
  "tool.web_fetch.response",
  "tool.web_search.requested",
  "tool.web_search.response",
  "approval.requested",
  "approval.resolved",
  "approval.timed_out",
  "cost.tick",
  "cost.budget_warning",
  "cost.budget_exceeded",
  "policy.tool_blocked",
  "policy.model_rewrote",
  "error.tool_unavailable",
  "error.model_capability_missing",
  "error.upstream",
  "gap.events_pruned",
  "gap.run_disconnected",
  "tool.edit.proposed",
  "tool.edit.applied",
  "tool.edit.rejected",
  "tool.edit.reverted",
  "tool.multi_edit.proposed",
  "tool.multi_edit.applied",
  "tool.multi_edit.rejected",
  "tool.multi_edit.reverted",
  "tool.file_write.proposed",
  "artifact.created",
  "artifact.referenced",
  "artifact.updated",
  "assistant.thinking_delta",
  "assistant.thinking_complete",
  "assistant.tool_input_delta",
  "assistant.media",
  "run.child_started",
  "run.child_finished",
  "run.branched",
  "agent.state_changed",
  "agent.unparsed",
] as const;

/** The types that end a run. */
export const TERMINAL_TYPES = [
  "run.cancelled",
  "run.failed",
  "run.finished",
] as const;

/** Types that are sent only on request. */
export const EXPERIMENTAL_TYPES = [
  "assistant.media",
  "assistant.thinking_complete",
  "assistant.thinking_delta",
  "assistant.tool_input_delta",
  "run.branched",
  "run.child_finished",
  "run.child_started",
] as const;

/** The value of the hash chain right after one event, at the edge of a hole. */
export interface Anchor {
  sequence: number;
  hash: string;
}

/** One line that matched. */
export interface GrepMatch {
  path: string;
  line: number;
  text: string;
}

/** One thing to be done. */
export interface Todo {
  content: string;
  /** pending, in_progress or completed. */
  status: string;
}

/** One search result. */
export interface WebSearchHit {
  title: string;
  url: string;
  snippet?: string;
}

/** The run has been accepted and waits for a worker. */
export interface RunQueued {
  /** What the run executes: agent_loop, shell, git or file. */
  kind: string;
  /** Null for a kind that calls no model. */
  model: string | null;
  /** Null for a kind that calls no model. */
  provider: string | null;
  workspace_path: string | null;
  /** in_place, clone, worktree or scratch. */
  workspace_mode: string | null;
  /** The run that this one retries, resumes or continues. */
  prior_run_id?: string | null;
  /** Who does the work, such as native, claude or acp:name. */
  agent?: string;
  /** The run that started this one for a part of its work. */
  parent_run_id?: string;
  /** What a kind that calls no model is to execute. */
  input?: Record<string, unknown>;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A worker has claimed the run. */
export interface RunStarted {
  worker_id: string;
  /** When the claim lapses unless renewed; null if it never does. */
  lease_until?: string | null;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The run succeeded. Terminal. */
export interface RunFinished {
  final_status?: string;
  turns: number;
  cost_micros_usd: number;
  duration_ms: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The run failed. Terminal. */
export interface RunFailed {
  /** A stable name for the cause, such as model_unreachable. */
  code: string;
  message: string;
  /** Whether the same run may succeed when tried again. */
  retriable?: boolean;
  turns: number;
  cost_micros_usd?: number;
  duration_ms?: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The run was stopped on request. Terminal. */
export interface RunCancelled {
  /** Who asked: operator, system, or the name of a token. */
  by: string;
  reason?: string;
  turns?: number;
  cost_micros_usd?: number;
  duration_ms?: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The run takes up where another left off. Always the first event of its run. */
export interface RunResumedFromEvent {
  from_run_id: string;
  /** The last event of the other run that still counts. */
  from_sequence: number;
  prior_cost_micros_usd: number;
  checkpoint_id?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** Enough state was stored to resume from this point. */
export interface RunCheckpointSaved {
  checkpoint_id: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A turn begins: the model is about to be called. */
export interface TurnStarted {
  turn_index: number;
  /** Null when the agent does not say. */
  model: string | null;
  /** Null when the agent does not say. */
  provider: string | null;
  /** Null when nobody estimated. */
  input_tokens_estimate?: number | null;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The turn finished; its tokens and cost are authoritative. */
export interface TurnCompleted {
  turn_index: number;
  /** All input, the cached part included. */
  input_tokens: number;
  output_tokens: number;
  /** The part of the input that was read from a cache. */
  cached_input_tokens?: number;
  cost_micros_usd: number;
  duration_ms: number;
  /** How many tool calls the model asked for. */
  tool_calls: number;
  /** Why the model stopped, such as end_turn or tool_use. */
  stop_reason: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The turn failed; the run may try again or fail. */
export interface TurnFailed {
  turn_index: number;
  /** A stable name for the cause, such as model_timeout. */
  code: string;
  message: string;
  will_retry?: boolean;
  input_tokens?: number;
  output_tokens?: number;
  cost_micros_usd?: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A piece of streamed text. */
export interface AssistantTextDelta {
  turn_index: number;
  /** Which content block of the turn the piece belongs to. */
  block_index: number;
  delta: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The whole text of a content block: exactly its deltas, joined. */
export interface AssistantTextComplete {
  turn_index: number;
  block_index: number;
  text: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The model asked for a tool call, which has not run yet. */
export interface AssistantToolCallProposed {
  turn_index: number;
  tool_call_id: string;
  tool_name: string;
  /** The arguments as the model gave them. */
  input: Record<string, unknown>;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The model signalled that it is done. */
export interface AssistantFinalAnswer {
  turn_index: number;
  summary: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A person posted a message. */
export interface UserMessage {
  /** The turn that will read the message. */
  turn_index: number;
  text: string;
  /** Who wrote it, when that is known. */
  by?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A person attached a file or an image. */
export interface UserAttachment {
  turn_index: number;
  /** image or file. */
  kind: string;
  mime: string;
  artifact_id: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The runtime accepted the call and is about to execute it. */
export interface ToolInvoked {
  /** The model's own id of the call. */
  tool_call_id: string;
  tool_name: string;
  /** shell, edit, file, search, todo, http, web, mcp, or a kind from the future. */
  kind: string;
  /** The MCP server that the call goes to. */
  mcp_server?: string;
  /** The tool's name on that server. */
  mcp_tool?: string;
  turn_index: number;
  /** How long the call may take. */
  timeout_ms?: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** Execution began. */
export interface ToolStarted {
  /** The model's own id of the call. */
  tool_call_id: string;
  tool_name: string;
  /** shell, edit, file, search, todo, http, web, mcp, or a kind from the future. */
  kind: string;
  /** The MCP server that the call goes to. */
  mcp_server?: string;
  /** The tool's name on that server. */
  mcp_tool?: string;
  turn_index?: number;
  /** How long the call may take. */
  timeout_ms?: number;
  /** The arguments in use, where they are not the proposed ones. */
  input?: Record<string, unknown>;
  /** Who changed the arguments: an approver, or a hook. */
  changed_by?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The call succeeded. Terminal for the call. */
export interface ToolCompleted {
  /** The model's own id of the call. */
  tool_call_id: string;
  tool_name: string;
  /** shell, edit, file, search, todo, http, web, mcp, or a kind from the future. */
  kind: string;
  /** The MCP server that the call goes to. */
  mcp_server?: string;
  /** The tool's name on that server. */
  mcp_tool?: string;
  duration_ms: number;
  /** One line for a person. */
  summary?: string;
  /** What became of an MCP call, such as dispatched. */
  result?: string;
  result_artifact_id?: string;
  /** What the model is told, when that is short; otherwise the result artifact holds it. */
  output?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The call failed. Terminal for the call. */
export interface ToolFailed {
  /** The model's own id of the call. */
  tool_call_id: string;
  tool_name: string;
  /** shell, edit, file, search, todo, http, web, mcp, or a kind from the future. */
  kind: string;
  /** The MCP server that the call goes to. */
  mcp_server?: string;
  /** The tool's name on that server. */
  mcp_tool?: string;
  duration_ms: number;
  /** A stable name for the cause, such as nonzero_exit. */
  code: string;
  message: string;
  /** One line for a person. */
  summary?: string;
  /** What became of an MCP call, such as failed. */
  result?: string;
  result_artifact_id?: string;
  /** What the model is told, when that is short; otherwise the result artifact holds it. */
  output?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The call was stopped on request. Terminal for the call. */
export interface ToolCancelled {
  /** The model's own id of the call. */
  tool_call_id: string;
  tool_name: string;
  /** shell, edit, file, search, todo, http, web, mcp, or a kind from the future. */
  kind: string;
  /** The MCP server that the call goes to. */
  mcp_server?: string;
  /** The tool's name on that server. */
  mcp_tool?: string;
  duration_ms: number;
  /** Who asked: operator, system, or the name of a token. */
  by: string;
  reason?: string;
  result_artifact_id?: string;
  /** What the model is told, when that is short; otherwise the result artifact holds it. */
  output?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The call ran past its time or its output cap. Terminal for the call. */
export interface ToolTimedOut {
  /** The model's own id of the call. */
  tool_call_id: string;
  tool_name: string;
  /** shell, edit, file, search, todo, http, web, mcp, or a kind from the future. */
  kind: string;
  /** The MCP server that the call goes to. */
  mcp_server?: string;
  /** The tool's name on that server. */
  mcp_tool?: string;
  duration_ms: number;
  /** Which limit was passed: wall_clock or output_bytes. */
  limit: string;
  message: string;
  result_artifact_id?: string;
  /** What the model is told, when that is short; otherwise the result artifact holds it. */
  output?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A subprocess is about to start. */
export interface ShellCommand {
  tool_call_id: string;
  argv: Array<string>;
  cwd: string;
  /** Names, never values, of the variables the process is given. */
  env_keys: Array<string>;
  /** What confines the process, such as bwrap, or none. */
  sandbox_layer: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A piece of the process's output. */
export interface ShellOutputChunk {
  tool_call_id: string;
  stream: "stderr" | "stdout";
  data: string;
  /** Where in its stream, as the process wrote it, the piece begins. */
  byte_offset: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The process ended. */
export interface ShellExited {
  tool_call_id: string;
  /** Null when a signal ended the process. */
  exit_code: number | null;
  /** The signal's name, such as SIGTERM. */
  signal?: string | null;
  stdout_bytes: number;
  stderr_bytes: number;
  /** Whether output was left out because of a cap. */
  truncated?: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** File names were matched against a pattern. */
export interface GlobCompleted {
  tool_call_id: string;
  pattern: string;
  matches: Array<string>;
  /** How many there are, also when fewer are listed. */
  match_count: number;
  /** Whether matches were left out because of a cap. */
  truncated?: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** File contents were searched. */
export interface GrepCompleted {
  tool_call_id: string;
  pattern: string;
  files_searched: number;
  matches: Array<GrepMatch>;
  /** How many there are, also when fewer are listed. */
  match_count: number;
  /** Whether matches were left out because of a cap. */
  truncated?: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A file, or part of it, was read. */
export interface FileReadCompleted {
  tool_call_id: string;
  path: string;
  size_bytes: number;
  lines: number;
  /** The bytes that were read. */
  snippet_artifact_id?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The list was written anew; it replaces the former one in full. */
export interface TodoWriteUpdated {
  tool_call_id: string;
  todos: Array<Todo>;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A request is about to be sent. */
export interface HttpRequested {
  tool_call_id: string;
  method: string;
  url: string;
  /** Names, never values, of the headers sent. */
  header_keys: Array<string>;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The answer arrived. */
export interface HttpResponse {
  tool_call_id: string;
  status: number;
  duration_ms: number;
  body_artifact_id?: string;
  body_truncated?: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A page is about to be fetched for reading. */
export interface WebFetchRequested {
  tool_call_id: string;
  method?: string;
  url: string;
  /** Names, never values, of the headers sent. */
  header_keys: Array<string>;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The page arrived and its text was extracted. */
export interface WebFetchResponse {
  tool_call_id: string;
  status: number;
  duration_ms: number;
  body_artifact_id?: string;
  body_truncated?: boolean;
  /** The page as readable text. */
  extracted_text_artifact_id?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A search is about to be sent. */
export interface WebSearchRequested {
  tool_call_id: string;
  query: string;
  /** Who searches. */
  provider?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The search results arrived. */
export interface WebSearchResponse {
  tool_call_id: string;
  status: number;
  duration_ms: number;
  hits: Array<WebSearchHit>;
  /** How many there are, also when fewer are listed. */
  hit_count: number;
  /** The results in full. */
  body_artifact_id?: string;
  body_truncated?: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The run waits for a decision. */
export interface ApprovalRequested {
  approval_id: string;
  /** The call in question; null when it is not about one. */
  tool_call_id: string | null;
  /** What is to be approved, such as shell_exec. */
  kind: string;
  /** One line for a person: what will happen if approved. */
  summary: string;
  /** Why a decision is needed. */
  policy_reason: string;
  /** When the request times out. */
  expires_at?: string;
  /** The arguments of the call, for whoever decides to see and edit. */
  input?: Record<string, unknown>;
  /** A digest of the exact call; a decision is good for no other. */
  input_digest?: string;
  /** What the call would do: reads, writes, executes, network. */
  effects?: Array<string>;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The decision was taken. It precedes every run event that it causes. */
export interface ApprovalResolved {
  approval_id: string;
  decision: "approved" | "denied";
  /** Who decided. */
  by: string;
  comment?: string;
  /** How far the decision reaches: once, session, task or always. */
  scope?: string;
  /** The arguments to use instead of the proposed ones. */
  edited_input?: Record<string, unknown>;
  /** Whether a denial also ends the run. */
  stop?: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** Nobody decided in time. */
export interface ApprovalTimedOut {
  approval_id: string;
  after_seconds: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The run's totals so far. */
export interface CostTick {
  cumulative_input_tokens: number;
  cumulative_output_tokens: number;
  cumulative_cost_micros_usd: number;
  /** Null when the task has no budget. */
  task_budget_micros_usd: number | null;
  /** Below zero when overspent; null when the task has no budget. */
  task_budget_remaining_micros_usd: number | null;
  cumulative_cached_input_tokens?: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** Spending passed a threshold of the budget. */
export interface CostBudgetWarning {
  threshold_pct: number;
  cumulative_cost_micros_usd: number;
  task_budget_micros_usd: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The budget is spent. */
export interface CostBudgetExceeded {
  cumulative_cost_micros_usd: number;
  task_budget_micros_usd: number;
  /** What was done about it, such as halted. */
  action: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A tool call was refused; it is not invoked. */
export interface PolicyToolBlocked {
  tool_call_id: string;
  tool_name: string;
  reason: string;
  /** The rule that refused it. */
  policy_id?: string;
  kind?: string;
  /** The MCP server that the call was meant for. */
  mcp_server?: string;
  /** The tool's name on that server. */
  mcp_tool?: string;
  /** What became of an MCP call: blocked. */
  result?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** Another model was used than the one asked for. */
export interface PolicyModelRewrote {
  from_model: string;
  to_model: string;
  reason: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A tool cannot be offered. */
export interface ErrorToolUnavailable {
  tool_name: string;
  reason: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The model lacks something that the run wanted. */
export interface ErrorModelCapabilityMissing {
  model: string;
  missing_capability: string;
  /** What is done instead; null when nothing can be. */
  fallback_strategy: string | null;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A model provider failed. */
export interface ErrorUpstream {
  provider: string;
  /** The HTTP status; null when no answer came. */
  status: number | null;
  message: string;
  retriable: boolean;
  /** Which attempt failed, counted from 1. */
  attempt: number;
  max_attempts: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** Events of this range were removed; the marker stands in the place of the last one. */
export interface GapEventsPruned {
  first_pruned_sequence: number;
  last_pruned_sequence: number;
  pruned_at: string;
  /** retention_window, retention_count, retention_size or operator. */
  reason: string;
  /** The chain value at the end of each hole, so that what is left still verifies. */
  anchors?: Array<Anchor>;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The worker was lost; what it did since this point may be missing. */
export interface GapRunDisconnected {
  /** The last event known to be stored; -1 when none is. */
  since_sequence: number;
  since_at: string;
  reason: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A tool wants to change a file that exists. */
export interface EditProposed {
  tool_call_id: string;
  path: string;
  patch_artifact_id: string;
  /** One line for a person, such as 1 hunk, +1/-1 line. */
  summary: string;
  /** Whether it is applied without waiting for a person. */
  auto_apply: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The patch is now in the workspace. */
export interface EditApplied {
  tool_call_id: string;
  patch_artifact_id: string;
  applied_at: string;
  /** Who applied it, when a person did. */
  applied_by?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A person refused the patch; the workspace is untouched. */
export interface EditRejected {
  patch_artifact_id: string;
  rejected_by: string;
  reason?: string;
  tool_call_id?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** An applied patch was taken back. */
export interface EditReverted {
  patch_artifact_id: string;
  reverted_by: string;
  reason?: string;
  tool_call_id?: string;
  /** The patch that undid it. */
  inverse_artifact_id?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A tool wants to change several files, all or none. */
export interface MultiEditProposed {
  tool_call_id: string;
  paths: Array<string>;
  patch_artifact_ids: Array<string>;
  /** One line for a person. */
  summary: string;
  /** Whether they are applied without waiting for a person. */
  auto_apply: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** All patches of the batch are now in the workspace. */
export interface MultiEditApplied {
  tool_call_id: string;
  patch_artifact_ids: Array<string>;
  applied_at: string;
  /** Who applied them, when a person did. */
  applied_by?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A person refused the whole batch; the workspace is untouched. */
export interface MultiEditRejected {
  patch_artifact_ids: Array<string>;
  rejected_by: string;
  reason?: string;
  tool_call_id?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The whole applied batch was taken back. */
export interface MultiEditReverted {
  patch_artifact_ids: Array<string>;
  reverted_by: string;
  reason?: string;
  tool_call_id?: string;
  /** The patches that undid them. */
  inverse_artifact_ids?: Array<string>;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A tool wants to create a file; a write to an existing path is `tool.edit.proposed` instead. */
export interface FileWriteProposed {
  tool_call_id: string;
  path: string;
  patch_artifact_id: string;
  /** One line for a person, such as new file, 42 lines. */
  summary: string;
  /** Whether it is applied without waiting for a person. */
  auto_apply: boolean;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** An artifact was stored. */
export interface ArtifactCreated {
  artifact_id: string;
  /** patch, file_snapshot, command_output, fetched_resource, search_results, image or tool_result_blob. */
  kind: string;
  size_bytes: number;
  /** One line for a person. */
  summary: string;
  /** The event that led to it; null when none did. */
  created_by_event_id?: string | null;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** An event used an artifact that was there before. */
export interface ArtifactReferenced {
  artifact_id: string;
  by_event_id: string;
  /** How it was used, such as consumed. */
  relation: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** One field of an artifact's metadata changed; its body never does. */
export interface ArtifactUpdated {
  artifact_id: string;
  field: string;
  old_value: string | number | boolean | null;
  new_value: string | number | boolean | null;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A piece of streamed reasoning. */
export interface AssistantThinkingDelta {
  turn_index: number;
  /** Which content block of the turn the piece belongs to. */
  block_index: number;
  delta: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The whole reasoning of a content block: exactly its deltas, joined. */
export interface AssistantThinkingComplete {
  turn_index: number;
  block_index: number;
  text: string;
  /** The provider's proof that the reasoning is its own; needed to send it back. */
  signature?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A piece of the arguments of a tool call that the model is still writing. */
export interface AssistantToolInputDelta {
  turn_index: number;
  tool_call_id: string;
  tool_name?: string;
  /** JSON text; only all pieces together are a whole value. */
  delta: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The model produced something other than text. */
export interface AssistantMedia {
  turn_index: number;
  block_index: number;
  mime: string;
  artifact_id: string;
  /** One line for a person. */
  summary?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The run handed part of its work to a run of its own. */
export interface RunChildStarted {
  child_run_id: string;
  agent: string;
  /** One line for a person: what the child is to do. */
  summary: string;
  /** The tool call that asked for the child. */
  tool_call_id?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A child run reached its end. */
export interface RunChildFinished {
  child_run_id: string;
  /** completed, failed or cancelled. */
  final_status: string;
  /** One line for a person. */
  summary?: string;
  cost_micros_usd?: number;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** A new run took this one's history up to a point and goes its own way from there. */
export interface RunBranched {
  branch_run_id: string;
  /** The last event that both runs share. */
  from_sequence: number;
  reason?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The agent is in another state than before. */
export interface AgentStateChanged {
  from: "blocked" | "done" | "error" | "idle" | "working";
  to: "blocked" | "done" | "error" | "idle" | "working";
  reason?: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The agent wrote a line that no dialect understands, or one that came after its end. */
export interface AgentUnparsed {
  /** The line as it came. */
  raw: string;
  /** Why it was not understood. */
  error: string;
  /** JSON Pointers, within data, of the values that were redacted. */
  redacted_paths?: Array<string>;
}

/** The shape of `data` for each known type. */
export interface EventDataByType {
  "run.queued": RunQueued;
  "run.started": RunStarted;
  "run.finished": RunFinished;
  "run.failed": RunFailed;
  "run.cancelled": RunCancelled;
  "run.resumed_from_event": RunResumedFromEvent;
  "run.checkpoint_saved": RunCheckpointSaved;
  "turn.started": TurnStarted;
  "turn.completed": TurnCompleted;
  "turn.failed": TurnFailed;
  "assistant.text_delta": AssistantTextDelta;
  "assistant.text_complete": AssistantTextComplete;
  "assistant.tool_call_proposed": AssistantToolCallProposed;
  "assistant.final_answer": AssistantFinalAnswer;
  "user.message": UserMessage;
  "user.attachment": UserAttachment;
  "tool.invoked": ToolInvoked;
  "tool.started": ToolStarted;
  "tool.completed": ToolCompleted;
  "tool.failed": ToolFailed;
  "tool.cancelled": ToolCancelled;
  "tool.timed_out": ToolTimedOut;
  "tool.shell.command": ShellCommand;
  "tool.shell.output_chunk": ShellOutputChunk;
  "tool.shell.exited": ShellExited;
  "tool.glob.completed": GlobCompleted;
  "tool.grep.completed": GrepCompleted;
  "tool.file_read.completed": FileReadCompleted;
  "tool.todo_write.updated": TodoWriteUpdated;
  "tool.http.requested": HttpRequested;
  "tool.http.response": HttpResponse;
  "tool.web_fetch.requested": WebFetchRequested;
  "tool.web_fetch.response": WebFetchResponse;
  "tool.web_search.requested": WebSearchRequested;
  "tool.web_search.response": WebSearchResponse;
  "approval.requested": ApprovalRequested;
  "approval.resolved": ApprovalResolved;
  "approval.timed_out": ApprovalTimedOut;
  "cost.tick": CostTick;
  "cost.budget_warning": CostBudgetWarning;
  "cost.budget_exceeded": CostBudgetExceeded;
  "policy.tool_blocked": PolicyToolBlocked;
  "policy.model_rewrote": PolicyModelRewrote;
  "error.tool_unavailable": ErrorToolUnavailable;
  "error.model_capability_missing": ErrorModelCapabilityMissing;
  "error.upstream": ErrorUpstream;
  "gap.events_pruned": GapEventsPruned;
  "gap.run_disconnected": GapRunDisconnected;
  "tool.edit.proposed": EditProposed;
  "tool.edit.applied": EditApplied;
  "tool.edit.rejected": EditRejected;
  "tool.edit.reverted": EditReverted;
  "tool.multi_edit.proposed": MultiEditProposed;
  "tool.multi_edit.applied": MultiEditApplied;
  "tool.multi_edit.rejected": MultiEditRejected;
  "tool.multi_edit.reverted": MultiEditReverted;
  "tool.file_write.proposed": FileWriteProposed;
  "artifact.created": ArtifactCreated;
  "artifact.referenced": ArtifactReferenced;
  "artifact.updated": ArtifactUpdated;
  "assistant.thinking_delta": AssistantThinkingDelta;
  "assistant.thinking_complete": AssistantThinkingComplete;
  "assistant.tool_input_delta": AssistantToolInputDelta;
  "assistant.media": AssistantMedia;
  "run.child_started": RunChildStarted;
  "run.child_finished": RunChildFinished;
  "run.branched": RunBranched;
  "agent.state_changed": AgentStateChanged;
  "agent.unparsed": AgentUnparsed;
}

/** The type of every event that this release knows. */
export type EventType = keyof EventDataByType;

/** An event whose type is known: comparing `type` narrows `data`. */
export type KnownEvent = { [T in EventType]: EnvelopeOf<T, EventDataByType[T]> }[EventType];

/** An event of a type that this release does not know. Show it raw; never fail on it. */
export type OpaqueEvent = EnvelopeOf<string, Record<string, unknown>>;

/** Anything that a stream may carry. Ask `isKnownEvent` first, then narrow by `type`. */
export type AnyEvent = KnownEvent | OpaqueEvent;

const KNOWN: ReadonlySet<string> = new Set<string>(EVENT_TYPES);
const TERMINAL: ReadonlySet<string> = new Set<string>(TERMINAL_TYPES);

/** Whether the event's type is known, so that `type` narrows `data`. */
export function isKnownEvent(event: AnyEvent): event is KnownEvent {
  return KNOWN.has(event.type);
}

/** Whether the event ends its run. */
export function isTerminal(event: AnyEvent): boolean {
  return TERMINAL.has(event.type);
}
