/** Something worth knowing that is nobody's doing. */
import type { Note } from "../fold/blocks";
import { type CardProps, Frame, type Level } from "./Frame";

const LOOKS: Record<Note["level"], { mark: string; name: string; level: Level }> = {
  info: { mark: "ℹ", name: "Note", level: "plain" },
  warning: { mark: "⚠", name: "Warning", level: "warn" },
  error: { mark: "✕", name: "Error", level: "bad" },
};

export function NoteCard(props: CardProps<Note>) {
  return <Frame {...props} {...LOOKS[props.block.level]} title={props.block.text} />;
}
