/** Markdown that is complete. A long one is drawn over several frames, from its beginning on. */
import { useGradually } from "./gradually";
import { markdown } from "./markdown";
import "./prose.css";

export function Finished({ text }: { text: string }) {
  const parts = markdown(text);
  const made = parts.findIndex((part) => !part.isMade);
  const shown = useGradually(parts.length, made === -1 ? parts.length : made);
  return (
    <div class="draw-prose">
      {parts.slice(0, shown).map((part, nth) => (
        <div key={nth} dangerouslySetInnerHTML={{ __html: part.html() }} />
      ))}
    </div>
  );
}
