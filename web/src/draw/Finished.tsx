/** Markdown that is complete. */
import { markdown } from "./markdown";
import "./prose.css";

export function Finished({ text }: { text: string }) {
  return <div class="draw-prose" dangerouslySetInnerHTML={{ __html: markdown(text) }} />;
}
