/** What the agent wants to do. */
import type { Todo } from "../fold/blocks";
import { type CardProps, Frame } from "./Frame";

const MARKS: Record<string, string> = { completed: "☑", in_progress: "▶", pending: "☐", cancelled: "☒" };

export function TodoCard(props: CardProps<Todo>) {
  const { items } = props.block;
  const done = items.filter(({ status }) => status === "completed").length;
  return (
    <Frame
      {...props}
      mark="☰"
      name="Todo"
      title={`${done} of ${items.length} done`}
      openAtFirst
      body={() => <TodoItems items={items} />}
    />
  );
}

/** The list alone, for a panel that stays in sight. */
export function TodoItems({ items }: { items: Todo["items"] }) {
  return (
    <ul class="card-todo">
      {items.map(({ content, status }, place) => (
        <li key={place} class={Object.hasOwn(MARKS, status) ? status : ""}>
          <span aria-hidden="true">{Object.hasOwn(MARKS, status) ? MARKS[status] : "·"}</span>
          <span class="sr-only">{status.replaceAll("_", " ")}: </span>
          <span>{content}</span>
        </li>
      ))}
    </ul>
  );
}
