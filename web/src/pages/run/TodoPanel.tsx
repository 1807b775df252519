/** What the agent wants to do and how far it has come. It stays in sight while the timeline moves. */
import { TodoItems } from "../../cards/Todo";
import type { Todo } from "../../fold/blocks";
import { isWide } from "./wide";

export function TodoPanel({ todo }: { todo: Todo | null }) {
  if (todo === null || todo.items.length === 0) return null;
  const done = todo.items.filter(({ status }) => status === "completed").length;
  return (
    <section class="run-todo" aria-label="To do">
      <details open={isWide()}>
        <summary>
          <h2>To do</h2> {done} of {todo.items.length} done
        </summary>
        <TodoItems items={todo.items} />
      </details>
    </section>
  );
}
