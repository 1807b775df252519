/** A tool call: what it does, how it went, what it printed. */
import { Json } from "../draw/Json";
import { Printed } from "../draw/Printed";
import type { Output, Tool } from "../fold/blocks";
import { useNow } from "../parts/clock";
import { duration } from "../text/words";
import { Detail } from "./Detail";
import { type CardProps, Frame, type Level } from "./Frame";
import { Stored } from "./Stored";
import { tailOf } from "./tail";

const MARKS: Record<string, string> = {
  shell: "❯",
  edit: "✎",
  file: "▤",
  search: "⌕",
  glob: "⌕",
  grep: "⌕",
  todo: "☰",
  http: "⇄",
  web: "⇄",
  mcp: "⬡",
};
const LEVELS: Record<Tool["state"], Level> = {
  proposed: "plain",
  running: "busy",
  completed: "plain",
  failed: "bad",
  cancelled: "warn",
  timed_out: "bad",
  blocked: "bad",
};

export function ToolCard(props: CardProps<Tool>) {
  const { block } = props;
  return (
    <Frame
      {...props}
      mark={Object.hasOwn(MARKS, block.toolKind) ? (MARKS[block.toolKind] ?? "⚙") : "⚙"}
      name={block.name}
      title={block.title}
      level={LEVELS[block.state]}
      facts={<How block={block} />}
      preview={<Preview block={block} />}
      body={() => <Body block={block} />}
    />
  );
}

function How({ block }: { block: Tool }) {
  const { state, exitCode, signal, durationMs } = block;
  const level = LEVELS[state] === "plain" ? "" : LEVELS[state];
  return (
    <>
      {isTold(block) && <span class="card-found">{found(block)}</span>}
      {exitCode !== null && <span class={`card-fact ${exitCode === 0 ? "good" : "bad"}`}>exit {exitCode}</span>}
      {signal !== null && <span class="card-fact bad">{signal}</span>}
      {state !== "completed" && <span class={`card-fact ${level}`}>{state.replaceAll("_", " ")}</span>}
      {durationMs !== null && <span>{duration(durationMs)}</span>}
      {state === "running" && exitCode === null && <Running since={block.startedAt} />}
    </>
  );
}

/** How much was found or read, without the name that the card has already. */
function found({ summary, title }: Tool): string {
  return summary.startsWith(`${title}: `) ? summary.slice(title.length + 2) : summary;
}

function Running({ since }: { since: string }) {
  const ms = useNow() - Date.parse(since);
  return ms >= 1_000 ? <span>{duration(ms)}</span> : null;
}

/** The end of what it printed, and why it did not succeed. */
function Preview({ block }: { block: Tool }) {
  const tail = isRead(block) ? [] : tailOf(block.output.pieces);
  return (
    <>
      {tail.length > 0 && (
        <div class="card-preview">
          <Printed pieces={tail} label={`End of the output of ${block.title || block.name}`} />
        </div>
      )}
      <Failure block={block} />
    </>
  );
}

/** Whether the head of the card says how it went. */
function isTold(block: Tool): boolean {
  return isRead(block) && block.error === "";
}

/** Whether it only looks something up: how much it got says more than the end of it. */
function isRead({ detail }: Tool): boolean {
  return detail !== null && detail.kind !== "shell" && detail.kind !== "mcp";
}

function Body({ block }: { block: Tool }) {
  const { detail, input, output, summary, error } = block;
  const label = `Output of ${block.title || block.name}`;
  return (
    <>
      <Detail block={block} />
      {summary !== "" && summary !== error && !isTold(block) && <p class="card-summary">{summary}</p>}
      <Failure block={block} />
      {detail?.kind !== "grep" && detail?.kind !== "glob" && <Whole output={output} label={label} />}
      {output.pieces.length === 0 && <Kept block={block} label={label} />}
      {input !== null && (
        <details class="card-input">
          <summary>Input</summary>
          <Json value={input} />
        </details>
      )}
    </>
  );
}

/** The result that was put aside, because it was long or no text. */
function Kept({ block, label }: { block: Tool; label: string }) {
  const { detail } = block;
  const artifactId = (detail !== null && "artifactId" in detail ? detail.artifactId : null) ?? block.resultArtifactId;
  return artifactId === null ? null : <Stored artifactId={artifactId} label={label} />;
}

function Failure({ block }: { block: Tool }) {
  return block.error === "" ? null : <p class="card-error">{block.error}</p>;
}

function Whole({ output, label }: { output: Output; label: string }) {
  if (output.pieces.length === 0) return null;
  return (
    <>
      {output.cut && (
        <p class="card-more">The beginning was let go: {output.chars.toLocaleString()} characters in all.</p>
      )}
      {/* They grow in place; a list of its own tells that they did. */}
      <Printed pieces={[...output.pieces]} label={label} />
    </>
  );
}
