/** Tool calls, as blocks. */
import type { EventDataByType as Data } from "@protocol";
import { oneLine } from "../text/harmless";
import type { Block, Tool, ToolState } from "./blocks";
import { noOutput, print } from "./output";
import type { Timeline } from "./timeline";
import { commandOf, titleOf } from "./titles";

type Ended = Data["tool.completed"] | Data["tool.failed"] | Data["tool.cancelled"] | Data["tool.timed_out"];
type Fetched = Data["tool.http.response"] | Data["tool.web_fetch.response"];

export class Calls {
  readonly #timeline: Timeline;
  readonly #calls: Map<string, number>;
  // How large what was fetched is; the answer that names it comes later.
  readonly #sizes: Map<string, number>;

  constructor(timeline: Timeline, of?: Calls) {
    this.#timeline = timeline;
    this.#calls = new Map(of === undefined ? [] : of.#calls);
    this.#sizes = new Map(of === undefined ? [] : of.#sizes);
  }

  /** The call of that id, to be changed now, if there is one. */
  known(callId: string | null | undefined): Tool | null {
    const block = this.#timeline.change(this.#calls.get(callId ?? ""));
    return block?.kind === "tool" ? block : null;
  }

  /** Another block says better what the call did. */
  told(callId: string): void {
    const block = this.known(callId);
    if (block !== null) block.told = true;
  }

  /** Ids may mean other calls from here on. */
  forget(): void {
    this.#calls.clear();
    this.#sizes.clear();
  }

  proposed(data: Data["assistant.tool_call_proposed"]): Block {
    const block = this.#fresh(data.tool_call_id, data.tool_name);
    block.input = data.input;
    block.title = titleOf(data.input);
    return block;
  }

  invoked(data: Data["tool.invoked"]): Block {
    const block = this.#fresh(data.tool_call_id, data.tool_name, data.kind);
    this.#run(block);
    return aimed(block, data);
  }

  started(data: Data["tool.started"]): Block {
    const block = this.#call(data.tool_call_id, data.tool_name, data.kind);
    if (block.state === "proposed") this.#run(block);
    if (data.input !== undefined) {
      block.input = data.input;
      block.title = titleOf(data.input);
    }
    return aimed(block, data);
  }

  blocked(data: Data["policy.tool_blocked"]): Block {
    const block = this.#call(data.tool_call_id, data.tool_name, data.kind);
    block.error = oneLine(data.reason);
    return this.#end(aimed(block, data), "blocked");
  }

  completed(data: Data["tool.completed"]): Block {
    const block = this.#ended(data);
    block.summary = oneLine(data.summary ?? "");
    return this.#end(block, "completed");
  }

  failed(data: Data["tool.failed"]): Block {
    const block = this.#ended(data);
    block.summary = oneLine(data.summary ?? "");
    block.error = oneLine(data.message || data.code);
    this.#timeline.wrong(block);
    return this.#end(block, "failed");
  }

  cancelled(data: Data["tool.cancelled"]): Block {
    const block = this.#ended(data);
    block.error = oneLine(`stopped by ${data.by}${data.reason ? `: ${data.reason}` : ""}`);
    return this.#end(block, "cancelled");
  }

  timedOut(data: Data["tool.timed_out"]): Block {
    const block = this.#ended(data);
    block.error = oneLine(data.message || data.limit);
    this.#timeline.wrong(block);
    return this.#end(block, "timed_out");
  }

  // What is known beyond a call's own life

  command(data: Data["tool.shell.command"]): Block {
    const block = this.#call(data.tool_call_id, "shell", "shell");
    block.title = oneLine(commandOf(data.argv));
    block.detail = { kind: "shell", argv: data.argv, cwd: data.cwd, sandbox: data.sandbox_layer };
    // Until now the call may have waited for others.
    block.startedAt = this.#timeline.at;
    return block;
  }

  printed(data: Data["tool.shell.output_chunk"]): Block {
    const block = this.#call(data.tool_call_id, "shell", "shell");
    print(block.output, data.stream, data.data);
    return block;
  }

  exited(data: Data["tool.shell.exited"]): Block {
    const block = this.#call(data.tool_call_id, "shell", "shell");
    block.exitCode = data.exit_code;
    block.signal = data.signal ?? null;
    return block;
  }

  globbed(data: Data["tool.glob.completed"]): Block {
    const block = this.#call(data.tool_call_id, "glob", "search");
    const { pattern, matches, match_count: count, truncated = false } = data;
    block.detail = { kind: "glob", pattern, matches, count, truncated };
    return block;
  }

  grepped(data: Data["tool.grep.completed"]): Block {
    const block = this.#call(data.tool_call_id, "grep", "search");
    const { pattern, matches, match_count: count, truncated = false, files_searched: filesSearched } = data;
    block.detail = { kind: "grep", pattern, matches, count, truncated, filesSearched };
    return block;
  }

  read(data: Data["tool.file_read.completed"]): Block {
    const block = this.#call(data.tool_call_id, "file_read", "file");
    const { path, size_bytes: bytes, lines, snippet_artifact_id: artifactId = null } = data;
    block.detail = { kind: "file", path, bytes, lines, artifactId };
    return block;
  }

  requested(data: Data["tool.http.requested"] | Data["tool.web_fetch.requested"], name: string, kind: string): Block {
    const block = this.#call(data.tool_call_id, name, kind);
    const { method = "GET", url } = data;
    block.title = oneLine(`${method} ${url}`);
    block.detail = { kind: "http", method, url, status: null, bytes: null, artifactId: null };
    return block;
  }

  responded(data: Fetched, name: string, kind: string, text?: string): Block {
    const block = this.#call(data.tool_call_id, name, kind);
    const asked = block.detail?.kind === "http" ? block.detail : { kind: "http" as const, method: "", url: "" };
    const body = data.body_artifact_id ?? null;
    const bytes = this.#sizes.get(body ?? "") ?? null;
    block.detail = { ...asked, status: data.status, bytes, artifactId: text ?? body };
    return block;
  }

  searched(data: Data["tool.web_search.requested"]): Block {
    const block = this.#call(data.tool_call_id, "web_search", "web");
    const { query, provider = "" } = data;
    block.title = oneLine(query);
    block.detail = { kind: "search", query, provider, results: null, hits: [], artifactId: null };
    return block;
  }

  found(data: Data["tool.web_search.response"]): Block {
    const block = this.#call(data.tool_call_id, "web_search", "web");
    const asked = block.detail?.kind === "search" ? block.detail : { kind: "search" as const, query: "", provider: "" };
    const { hits, hit_count: results, body_artifact_id: artifactId = null } = data;
    block.detail = { ...asked, results, hits, artifactId };
    return block;
  }

  stored(data: Data["artifact.created"]): null {
    if (data.kind === "fetched_resource") this.#sizes.set(data.artifact_id, data.size_bytes);
    return null;
  }

  /** The call of that id; not one that has ended, because agents use ids again. */
  #fresh(callId: string, name: string, kind = ""): Tool {
    const known = this.#timeline.blocks[this.#calls.get(callId) ?? -1];
    if (known !== undefined && !known.open) this.#calls.delete(callId);
    return this.#call(callId, name, kind);
  }

  #call(callId: string, name: string, kind = ""): Tool {
    const block = this.known(callId) ?? this.#make(callId);
    block.name ||= oneLine(name);
    block.toolKind ||= kind;
    return block;
  }

  #make(callId: string): Tool {
    const made = this.#timeline.make<Tool>(true, (common) => ({
      kind: "tool",
      callId,
      name: "",
      toolKind: "",
      title: "",
      state: "proposed",
      input: null,
      startedAt: common.at,
      endedAt: null,
      durationMs: null,
      output: noOutput(),
      exitCode: null,
      signal: null,
      summary: "",
      error: "",
      resultArtifactId: null,
      approvalId: null,
      detail: null,
      told: false,
      ...common,
    }));
    this.#calls.set(callId, made.index);
    return made;
  }

  #run(block: Tool): void {
    block.state = "running";
    block.startedAt = this.#timeline.at;
  }

  #ended(data: Ended): Tool {
    const block = aimed(this.#call(data.tool_call_id, data.tool_name, data.kind), data);
    const hasExited = block.exitCode !== null || block.signal !== null;
    if (data.output !== undefined && block.output.chars === 0 && !hasExited) print(block.output, "stdout", data.output);
    block.durationMs = data.duration_ms;
    block.resultArtifactId = data.result_artifact_id ?? null;
    return block;
  }

  #end(block: Tool, state: ToolState): Tool {
    block.state = state;
    block.endedAt = this.#timeline.at;
    // A call that went wrong is worth a block of its own, whatever else tells of it.
    block.told &&= state === "completed";
    this.#timeline.close(block);
    return block;
  }
}

/** Where a call goes to, if that is a server of tools. */
function aimed(block: Tool, { mcp_server: server, mcp_tool: tool }: { mcp_server?: string; mcp_tool?: string }): Tool {
  if (server !== undefined) block.detail = { kind: "mcp", server, tool: tool ?? "" };
  return block;
}
