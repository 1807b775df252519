/** What is known of a call beyond its life: where it ran, what it found, whom it asked. */
import { Link } from "../draw/Link";
import { Scrolling } from "../draw/Scrolling";
import { seen } from "../draw/seen";
import type { GrepMatch, SearchHit, Tool } from "../fold/blocks";
import { bytes, count } from "../text/words";

const SHOWN = 200;

export function Detail({ block }: { block: Tool }) {
  const { detail, input } = block;
  if (detail === null) return null;
  switch (detail.kind) {
    case "shell":
      return (
        <>
          <pre class="card-command">{seen(commandOf(input, detail.argv))}</pre>
          <Facts
            pairs={[
              ["in", detail.cwd],
              ["sandbox", detail.sandbox],
            ]}
          />
        </>
      );
    case "glob":
      return (
        <>
          <Found count={detail.count} what="file" truncated={detail.truncated} />
          <Scrolling class="card-paths" label="Files">
            <ul>
              {detail.matches.slice(0, SHOWN).map((path) => (
                <li key={path}>{seen(path)}</li>
              ))}
            </ul>
          </Scrolling>
        </>
      );
    case "grep":
      return (
        <>
          <Found count={detail.count} what="match" truncated={detail.truncated} searched={detail.filesSearched} />
          <Grep matches={detail.matches.slice(0, SHOWN)} />
        </>
      );
    case "file":
      return (
        <Facts
          pairs={[
            ["path", detail.path],
            ["lines", count(detail.lines)],
            ["size", bytes(detail.bytes)],
          ]}
        />
      );
    case "http":
      return (
        <>
          <p class="card-request">
            <strong>{detail.method}</strong> <Link address={detail.url} />
          </p>
          <Facts
            pairs={[
              ["status", detail.status === null ? "" : String(detail.status)],
              ["size", detail.bytes === null ? "" : bytes(detail.bytes)],
            ]}
          />
        </>
      );
    case "search":
      return (
        <>
          <Facts
            pairs={[
              ["query", detail.query],
              ["by", detail.provider],
              ["results", detail.results === null ? "" : String(detail.results)],
            ]}
          />
          <Hits hits={detail.hits} />
        </>
      );
    case "mcp":
      return (
        <Facts
          pairs={[
            ["server", detail.server],
            ["tool", detail.tool],
          ]}
        />
      );
  }
}

function commandOf(input: Tool["input"], argv: readonly string[]): string {
  const command = input?.command;
  return typeof command === "string" ? command : argv.join(" ");
}

function Facts({ pairs }: { pairs: readonly (readonly [name: string, value: string])[] }) {
  const known = pairs.filter(([, value]) => value !== "");
  if (known.length === 0) return null;
  return (
    <dl class="card-pairs">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{seen(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Found(props: { count: number; what: "file" | "match"; truncated: boolean; searched?: number }) {
  const many = props.what === "file" ? "files" : "matches";
  return (
    <p class="card-summary">
      {props.count.toLocaleString()} {props.count === 1 ? props.what : many}
      {props.searched !== undefined && ` in ${props.searched.toLocaleString()} files`}
      {props.truncated && ", not all of them kept"}
    </p>
  );
}

function Hits({ hits }: { hits: readonly SearchHit[] }) {
  if (hits.length === 0) return null;
  return (
    <ol class="card-hits">
      {hits.slice(0, SHOWN).map(({ title, url, snippet }) => (
        <li key={url}>
          <strong>{seen(title)}</strong> <Link address={url} />
          {snippet !== undefined && <p>{seen(snippet)}</p>}
        </li>
      ))}
    </ol>
  );
}

function Grep({ matches }: { matches: readonly GrepMatch[] }) {
  const files = new Map<string, GrepMatch[]>();
  for (const match of matches) files.set(match.path, [...(files.get(match.path) ?? []), match]);
  return (
    <Scrolling class="card-grep" label="Matches">
      {[...files].map(([path, lines]) => (
        <table key={path}>
          <caption>{seen(path)}</caption>
          <tbody>
            {lines.map(({ line, text }) => (
              <tr key={line}>
                <th scope="row">{line}</th>
                <td>{seen(text)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </Scrolling>
  );
}
