/** Which agent does it: those that are here, and how to get the others. */
import type { ComponentChildren } from "preact";
import type { Agent } from "../../wire/resources/work";

export function AgentChoice(props: {
  /** Nothing while it is being looked which are here. */
  agents: readonly Agent[] | null;
  chosen: string;
  problem: string | undefined;
  onChoose: (name: string) => void;
}) {
  const { chosen, onChoose } = props;
  const agents = props.agents ?? [];
  const here = agents.filter((agent) => agent.installed);
  const away = agents.filter((agent) => !agent.installed);
  return (
    <fieldset class="start-agents">
      <legend>Agent</legend>
      {props.agents === null && <p class="start-soft">Looking which agents are here…</p>}
      <div class="start-cards">
        {here.map((agent) => (
          <Card key={agent.name} agent={agent} chosen={chosen} onChoose={onChoose}>
            {aboutOf(agent)}
          </Card>
        ))}
      </div>
      {away.length > 0 && (
        <details open={away.some((agent) => agent.name === chosen)}>
          <summary>
            {away.length} more {away.length === 1 ? "agent" : "agents"}, not installed here
          </summary>
          <div class="start-cards">
            {away.map((agent) => (
              <Card key={agent.name} agent={agent} chosen={chosen} onChoose={onChoose}>
                {agent.driven}
                {agent.install !== null && <code class="start-install">{agent.install}</code>}
              </Card>
            ))}
          </div>
        </details>
      )}
      {props.problem !== undefined && (
        <p class="start-problem" role="alert">
          {props.problem}
        </p>
      )}
    </fieldset>
  );
}

function Card(props: { agent: Agent; chosen: string; onChoose: (name: string) => void; children: ComponentChildren }) {
  const { name, version } = props.agent;
  return (
    <label class="start-card">
      <input
        type="radio"
        name="agent"
        value={name}
        checked={name === props.chosen}
        onChange={() => props.onChoose(name)}
      />
      <span>
        <strong>{name}</strong> <span class="start-soft">{version ?? ""}</span>
        <span class="start-about">{props.children}</span>
      </span>
    </label>
  );
}

function aboutOf(agent: Agent): string {
  const asks = agent.asks ? "asks before it acts, as the policy says" : "does not ask; its sandbox bounds it";
  return `${agent.driven}; ${asks}; sandbox: ${agent.sandbox_layer}`;
}
