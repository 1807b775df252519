/** Markdown that is still being written: each piece is added to what stands there; nothing is drawn twice. */
import { useLayoutEffect, useRef } from "preact/hooks";
import * as smd from "streaming-markdown";
import { upright } from "../text/harmless";
import { webLink } from "./links";
import { headingLevel } from "./markdown";
import "./prose.css";

interface Writing {
  readonly parser: smd.Parser;
  written: string;
}

/** `text` grows; when it changes in any other way it is drawn anew. */
export function Live({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const writing = useRef<Writing | null>(null);
  useLayoutEffect(() => {
    if (box.current === null) return;
    if (writing.current === null || !text.startsWith(writing.current.written)) {
      box.current.replaceChildren();
      writing.current = { parser: smd.parser(safeRenderer(box.current)), written: "" };
    }
    smd.parser_write(writing.current.parser, text.slice(writing.current.written.length));
    writing.current.written = text;
  }, [text]);
  return <div ref={box} class="draw-prose draw-live" />;
}

/** Makes elements and text nodes only, of the same kinds as finished Markdown has; addresses pass the same gate. */
export function safeRenderer(root: HTMLElement): smd.Default_Renderer {
  const renderer = smd.default_renderer(root);
  return {
    ...renderer,
    add_token(data, type) {
      if (type >= smd.HEADING_1 && type <= smd.HEADING_6) push(data, `h${headingLevel(smd.heading_to_level(type))}`);
      else if (type === smd.IMAGE) push(data, "a");
      else if (type === smd.EQUATION_BLOCK || type === smd.EQUATION_INLINE) push(data, "code");
      else smd.default_add_token(data, type);
    },
    add_text(data, text) {
      smd.default_add_text(data, upright(text));
    },
    set_attr(data, type, value) {
      if (type === smd.HREF || type === smd.SRC) lead(data.nodes[data.index], value);
      else if (type === smd.START || type === smd.CHECKED) smd.default_set_attr(data, type, value);
    },
  };
}

function push(data: smd.Default_Renderer_Data, tag: string): void {
  const made = document.createElement(tag);
  data.nodes[data.index]?.append(made);
  data.index += 1;
  data.nodes[data.index] = made;
}

function lead(link: HTMLElement | undefined, address: string): void {
  const safe = webLink(address);
  if (link === undefined || safe === null) return;
  link.setAttribute("href", safe);
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer nofollow");
}
