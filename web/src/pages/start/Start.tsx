/** New task: what is to be done, by whom, where, and within which bounds. Starting it opens its run. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { sendsOn, useDoing } from "../../control/doing";
import { useKeys } from "../../parts/keys";
import { useLoaded } from "../../parts/loaded";
import { go, type Place } from "../../parts/route";
import { Trouble } from "../../parts/Trouble";
import { get, post, Refusal } from "../../wire/api";
import type { List, Run } from "../../wire/resources/runs";
import type { About, Agent, Session, Task } from "../../wire/resources/work";
import { AgentChoice } from "./AgentChoice";
import { Bounds } from "./Bounds";
import { suggested } from "./choices";
import { type Change, type Draft, fieldOf, type Problems, written } from "./draft";
import { Field } from "./Field";
import { begun, keep } from "./habits";
import { More } from "./More";
import { Where } from "./Where";
import "./start.css";

export default function Start({ place }: { place: Place }) {
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState<Draft>(() => begun(place.query));
  const [problems, setProblems] = useState<Problems>({});
  const doing = useDoing();
  const known = useKnown();
  const change: Change = (changed) => {
    setDraft((before) => ({ ...before, ...changed }));
    setProblems((before) => without(before, Object.keys(changed)));
  };
  useEffect(() => {
    const folder = known.about?.workspace;
    if (folder !== undefined) setDraft((before) => (before.path === "" ? { ...before, path: folder } : before));
  }, [known.about]);
  useEffect(() => showFirst(form.current, problems), [problems]);
  useKeys([{ keys: "/", about: "Write the prompt", group: "New task", act: () => focusPrompt(form.current) }], []);

  const start = (event: Event) => {
    event.preventDefault();
    const { body, problems: found } = written(draft);
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    void doing.run(async () => {
      try {
        const task = await post<Task>("tasks", body);
        keep(draft);
        go(task.latest_run === null ? "" : `runs/${task.latest_run.run_id}`);
      } catch (failure) {
        const field = failure instanceof Refusal ? fieldOf(failure.code, failure.details) : null;
        if (!(failure instanceof Refusal) || field === null) throw failure;
        setProblems({ [field]: sentence(failure) });
      }
    });
  };
  const isNative = draft.agent === "native";
  return (
    <div class="start">
      <h1>New task</h1>
      <form ref={form} onSubmit={start} noValidate>
        <Field label="What is to be done?" problem={problems.prompt} about="Ctrl+Enter starts it.">
          {(wires) => (
            <textarea
              {...wires}
              name="prompt"
              rows={6}
              value={draft.prompt}
              onInput={(event) => change({ prompt: event.currentTarget.value })}
              onKeyDown={sendsOn}
            />
          )}
        </Field>
        <AgentChoice
          agents={known.agents}
          chosen={draft.agent}
          problem={problems.agent}
          onChoose={(agent) => change({ agent })}
        />
        <Field
          label={isNative ? "Model" : "Model (optional)"}
          problem={problems.model}
          about={modelHint(isNative, known.about)}
        >
          {(wires) => (
            <input
              {...wires}
              name="model"
              list="start-models"
              autocomplete="off"
              spellcheck={false}
              placeholder={isNative ? "provider:name" : "its own"}
              value={draft.model}
              onInput={(event) => change({ model: event.currentTarget.value })}
            />
          )}
        </Field>
        <datalist id="start-models">
          {known.models.map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
        <Where draft={draft} problems={problems} change={change} />
        <Bounds draft={draft} problems={problems} change={change} policies={known.about?.policies} />
        <More draft={draft} problems={problems} change={change} sessions={known.sessions} />
        {known.failure !== null && <Trouble failure={known.failure} />}
        {doing.failure !== null && <Trouble failure={doing.failure} />}
        <footer>
          <button type="submit" class="primary" disabled={doing.busy}>
            {doing.busy ? "Starting…" : "Start"}
          </button>
        </footer>
      </form>
    </div>
  );
}

/** What the form offers; what cannot be read is not offered, and only missing agents are a trouble. */
function useKnown() {
  const agents = useLoaded((signal) => get<List<Agent>>("agents", {}, signal), []);
  const about = useLoaded((signal) => get<About>("about", {}, signal), []);
  const runs = useLoaded((signal) => get<List<Run>>("runs", { limit: 100 }, signal), []);
  const sessions = useLoaded((signal) => get<List<Session>>("sessions", {}, signal), []);
  const models = useMemo(
    () => suggested(runs.value?.data ?? [], about.value?.providers ?? []),
    [runs.value, about.value],
  );
  return {
    agents: agents.failure === null ? (agents.value?.data ?? null) : [],
    about: about.value,
    models,
    sessions: sessions.value?.data ?? [],
    failure: agents.failure,
  };
}

function modelHint(isNative: boolean, about: About | null): string {
  if (!isNative) return "Left empty, the agent takes the one that it is set to.";
  const script = "scripted:FILE plays a file instead of calling a model.";
  if (about !== null && about.providers.length === 0) {
    return `No provider has a key here: set ANTHROPIC_API_KEY or OPENAI_API_KEY where runwire runs. ${script}`;
  }
  return `Such as anthropic:claude-sonnet-4-5. ${script}`;
}

/** What the gateway says of a field, and what to do. What it advises for any task is of no help at one field. */
function sentence({ code, message, hint }: Refusal): string {
  const what = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  return hint === "" || code === "task_invalid" ? what : `${what} To mend it: ${hint}.`;
}

function without(problems: Problems, names: readonly string[]): Problems {
  return Object.fromEntries(Object.entries(problems).filter(([name]) => !names.includes(name)));
}

/** Bring the first field that is wrong to the eye and under the hands. */
function showFirst(form: HTMLFormElement | null, problems: Problems): void {
  const names = Object.keys(problems);
  if (form === null || names.length === 0) return;
  for (const element of form.elements) {
    const name = element.getAttribute("name");
    if (!(element instanceof HTMLElement) || name === null || !names.includes(name)) continue;
    const fold = element.closest("details");
    if (fold !== null) fold.open = true;
    // What was folded away can have the focus only when it is drawn.
    requestAnimationFrame(() => element.focus());
    return;
  }
}

function focusPrompt(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLTextAreaElement>("textarea[name=prompt]")?.focus();
}
