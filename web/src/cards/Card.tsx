/** One block as its card. It is drawn anew only when the block has changed. */
import { Component } from "preact";
import { ApprovalBlock } from "./Approval";
import { ChildCard } from "./Child";
import { EditCard } from "./Edit";
import { EndCard } from "./End";
import type { CardProps } from "./Frame";
import { MediaCard } from "./Media";
import { NoteCard } from "./Note";
import { OpaqueCard } from "./Opaque";
import { ProseCard } from "./Prose";
import { TodoCard } from "./Todo";
import { ToolCard } from "./Tool";
import { TurnCard } from "./Turn";
import { UserCard } from "./User";
import "./cards.css";

export class Card extends Component<CardProps> {
  override shouldComponentUpdate(next: CardProps): boolean {
    const { block, revision, runId, active, onRaw } = this.props;
    return (
      next.block !== block ||
      next.revision !== revision ||
      next.runId !== runId ||
      next.active !== active ||
      next.onRaw !== onRaw
    );
  }

  override render({ block, ...rest }: CardProps) {
    switch (block.kind) {
      case "prose":
      case "thinking":
        return <ProseCard block={block} {...rest} />;
      case "tool":
        return <ToolCard block={block} {...rest} />;
      case "edit":
        return <EditCard block={block} {...rest} />;
      case "approval":
        return <ApprovalBlock block={block} {...rest} />;
      case "todo":
        return <TodoCard block={block} {...rest} />;
      case "note":
        return <NoteCard block={block} {...rest} />;
      case "user":
        return <UserCard block={block} {...rest} />;
      case "media":
        return <MediaCard block={block} {...rest} />;
      case "turn":
        return <TurnCard block={block} {...rest} />;
      case "child":
        return <ChildCard block={block} {...rest} />;
      case "opaque":
        return <OpaqueCard block={block} {...rest} />;
      case "end":
        return <EndCard block={block} {...rest} />;
    }
  }
}
