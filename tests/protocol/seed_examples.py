"""The example payloads that the protocol was first written down with, as (type, data)."""

CALL = "call_01JXMZH4R8Q2W3E5T6Y7K8P9A0"
ART = "art_01JXMZH5S9R3X4F6V7Z8M9Q0B1"
APPR = "appr_01JXMZH6T0S4Y5G7W8A9N0R1C2"
EVT = "evt_01JXMZH7V1T5Z6H8X9B0P1S2D3"

SEED: list[tuple[str, dict[str, object]]] = [
    (
        "run.queued",
        {
            "kind": "agent_loop",
            "model": "claude-sonnet-4-5",
            "provider": "anthropic",
            "workspace_path": "/srv/workspaces/task_xyz/run_abc",
            "workspace_mode": "clone",
            "prior_run_id": None,
        },
    ),
    ("run.started", {"worker_id": "worker-3", "lease_until": "2026-05-03T10:24:15.000Z"}),
    ("run.finished", {"final_status": "completed", "turns": 7, "cost_micros_usd": 12_400, "duration_ms": 48_310}),
    (
        "run.failed",
        {
            "code": "model_unreachable",
            "message": "anthropic.com returned 529 after 3 retries",
            "retriable": True,
            "turns": 2,
        },
    ),
    ("run.cancelled", {"by": "operator", "reason": ""}),
    (
        "run.resumed_from_event",
        {"from_run_id": "run_01JXMZ", "from_sequence": 187, "prior_cost_micros_usd": 8_900},
    ),
    ("run.checkpoint_saved", {"checkpoint_id": "ckpt_01JXMZ"}),
    (
        "turn.started",
        {
            "turn_index": 3,
            "model": "claude-sonnet-4-5",
            "provider": "anthropic",
            "input_tokens_estimate": 4_217,
        },
    ),
    (
        "turn.completed",
        {
            "turn_index": 3,
            "input_tokens": 4_201,
            "output_tokens": 312,
            "cached_input_tokens": 0,
            "cost_micros_usd": 4_120,
            "duration_ms": 6_540,
            "tool_calls": 2,
            "stop_reason": "tool_use",
        },
    ),
    ("turn.failed", {"turn_index": 3, "code": "model_timeout", "message": "no response in 60s", "will_retry": True}),
    (
        "assistant.text_delta",
        {"turn_index": 3, "block_index": 0, "delta": "I'll start by reading the budget package."},
    ),
    (
        "assistant.text_complete",
        {"turn_index": 3, "block_index": 0, "text": "I'll start by reading the budget package."},
    ),
    ("assistant.thinking_delta", {"turn_index": 3, "block_index": 0, "delta": "Keys first."}),
    ("assistant.thinking_complete", {"turn_index": 3, "block_index": 0, "text": "Keys first."}),
    (
        "assistant.tool_call_proposed",
        {
            "turn_index": 3,
            "tool_call_id": CALL,
            "tool_name": "edit_file",
            "input": {
                "path": "internal/budget/governor.go",
                "old_text": "func budgetKeyForRequest(scope types.RequestScope) string {",
                "new_text": "func budgetKeyForRequest(scope types.RequestScope, key string) string {",
            },
        },
    ),
    (
        "assistant.final_answer",
        {
            "turn_index": 7,
            "summary": "Refactored budget keying to include the API key. 3 files changed, tests pass.",
        },
    ),
    ("user.message", {"turn_index": 0, "text": "Refactor the budget package to use generics."}),
    ("user.attachment", {"turn_index": 0, "kind": "image", "mime": "image/png", "artifact_id": ART}),
    ("tool.invoked", {"tool_call_id": CALL, "tool_name": "shell_exec", "kind": "shell", "turn_index": 3}),
    (
        "tool.completed",
        {
            "tool_call_id": CALL,
            "tool_name": "shell_exec",
            "kind": "shell",
            "duration_ms": 312,
            "summary": "exited with status 0",
            "result_artifact_id": ART,
        },
    ),
    (
        "tool.shell.command",
        {
            "tool_call_id": CALL,
            "argv": ["go", "test", "./internal/budget/..."],
            "cwd": "/srv/workspaces/run_abc",
            "env_keys": ["PATH", "HOME"],
            "sandbox_layer": "bwrap",
        },
    ),
    (
        "tool.shell.output_chunk",
        {
            "tool_call_id": CALL,
            "stream": "stdout",
            "data": "ok  \tgithub.com/hecate/agent-runtime/internal/budget\t0.231s\n",
            "byte_offset": 0,
        },
    ),
    (
        "tool.shell.exited",
        {
            "tool_call_id": CALL,
            "exit_code": 0,
            "signal": None,
            "stdout_bytes": 3_120,
            "stderr_bytes": 0,
            "truncated": False,
        },
    ),
    (
        "tool.edit.proposed",
        {
            "tool_call_id": CALL,
            "path": "internal/budget/governor.go",
            "patch_artifact_id": ART,
            "summary": "1 hunk, +1/-1 line",
            "auto_apply": True,
        },
    ),
    (
        "tool.edit.applied",
        {"tool_call_id": CALL, "patch_artifact_id": ART, "applied_at": "2026-05-03T10:23:46.001Z"},
    ),
    ("tool.edit.reverted", {"patch_artifact_id": ART, "reverted_by": "operator", "reason": "tests failed"}),
    (
        "tool.glob.completed",
        {
            "tool_call_id": CALL,
            "pattern": "internal/**/*_test.go",
            "matches": ["internal/budget/governor_test.go", "..."],
            "match_count": 47,
            "truncated": False,
        },
    ),
    (
        "tool.grep.completed",
        {
            "tool_call_id": CALL,
            "pattern": "budgetKeyForRequest",
            "files_searched": 312,
            "matches": [
                {"path": "internal/budget/governor.go", "line": 84, "text": "func budgetKeyForRequest(scope ..."}
            ],
            "match_count": 3,
            "truncated": False,
        },
    ),
    (
        "tool.file_read.completed",
        {
            "tool_call_id": CALL,
            "path": "internal/budget/governor.go",
            "size_bytes": 8_124,
            "lines": 312,
            "snippet_artifact_id": ART,
        },
    ),
    (
        "tool.file_write.proposed",
        {
            "tool_call_id": CALL,
            "path": "internal/budget/generics.go",
            "patch_artifact_id": ART,
            "summary": "new file, 42 lines",
            "auto_apply": False,
        },
    ),
    (
        "tool.todo_write.updated",
        {
            "tool_call_id": CALL,
            "todos": [
                {"content": "Read budget package", "status": "completed"},
                {"content": "Add generic key type", "status": "in_progress"},
                {"content": "Update governor_test.go", "status": "pending"},
            ],
        },
    ),
    (
        "tool.http.requested",
        {
            "tool_call_id": CALL,
            "method": "GET",
            "url": "https://api.example.com/v1/foo",
            "header_keys": ["Authorization", "Accept"],
        },
    ),
    (
        "tool.http.response",
        {
            "tool_call_id": CALL,
            "status": 200,
            "duration_ms": 412,
            "body_artifact_id": ART,
            "body_truncated": False,
        },
    ),
    (
        "tool.completed",
        {
            "tool_call_id": CALL,
            "tool_name": "mcp__filesystem__read_text_file",
            "kind": "mcp",
            "mcp_server": "filesystem",
            "mcp_tool": "read_text_file",
            "result": "dispatched",
            "duration_ms": 88,
        },
    ),
    (
        "policy.tool_blocked",
        {
            "tool_call_id": CALL,
            "tool_name": "mcp__github__delete_repo",
            "kind": "mcp",
            "mcp_server": "github",
            "mcp_tool": "delete_repo",
            "result": "blocked",
            "reason": "approval_policy=block",
        },
    ),
    (
        "approval.requested",
        {
            "approval_id": APPR,
            "tool_call_id": CALL,
            "kind": "shell_exec",
            "summary": "rm -rf node_modules",
            "policy_reason": "shell_exec is gated by all_tools policy",
        },
    ),
    (
        "approval.resolved",
        {"approval_id": APPR, "decision": "approved", "by": "operator", "comment": "", "scope": "once"},
    ),
    ("approval.timed_out", {"approval_id": APPR, "after_seconds": 300}),
    (
        "artifact.created",
        {
            "artifact_id": ART,
            "kind": "patch",
            "size_bytes": 412,
            "summary": "internal/budget/governor.go: 1 hunk, +1/-1",
            "created_by_event_id": EVT,
        },
    ),
    ("artifact.referenced", {"artifact_id": ART, "by_event_id": EVT, "relation": "consumed"}),
    (
        "artifact.updated",
        {"artifact_id": ART, "field": "status", "old_value": "proposed", "new_value": "applied"},
    ),
    (
        "cost.tick",
        {
            "cumulative_input_tokens": 12_400,
            "cumulative_output_tokens": 1_120,
            "cumulative_cost_micros_usd": 14_320,
            "task_budget_micros_usd": 50_000,
            "task_budget_remaining_micros_usd": 35_680,
        },
    ),
    (
        "cost.budget_warning",
        {"threshold_pct": 80, "cumulative_cost_micros_usd": 40_120, "task_budget_micros_usd": 50_000},
    ),
    (
        "cost.budget_exceeded",
        {"cumulative_cost_micros_usd": 50_240, "task_budget_micros_usd": 50_000, "action": "halted"},
    ),
    (
        "policy.tool_blocked",
        {
            "tool_call_id": CALL,
            "tool_name": "shell_exec",
            "reason": "no_network policy denied egress",
            "policy_id": "default-shell",
        },
    ),
    (
        "policy.model_rewrote",
        {"from_model": "gpt-5", "to_model": "gpt-5-mini", "reason": "rewrite rule: cost-cap"},
    ),
    ("error.tool_unavailable", {"tool_name": "web_search", "reason": "no_provider_configured"}),
    (
        "error.model_capability_missing",
        {
            "model": "llama3.1:8b",
            "missing_capability": "tool_use",
            "fallback_strategy": "prompt_simulated_json",
        },
    ),
    (
        "error.upstream",
        {
            "provider": "anthropic",
            "status": 529,
            "message": "anthropic returned overloaded_error",
            "retriable": True,
            "attempt": 2,
            "max_attempts": 3,
        },
    ),
    (
        "gap.events_pruned",
        {
            "first_pruned_sequence": 0,
            "last_pruned_sequence": 142,
            "pruned_at": "2026-05-03T09:00:00Z",
            "reason": "retention_window",
        },
    ),
    (
        "gap.run_disconnected",
        {"since_sequence": 312, "since_at": "2026-05-03T10:23:00Z", "reason": "worker_lease_expired"},
    ),
]
