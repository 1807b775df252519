/** What a person said or attached. */
import type { User } from "../fold/blocks";
import { upright } from "../text/harmless";
import { type CardProps, Frame } from "./Frame";
import { Picture } from "./Picture";

export function UserCard(props: CardProps<User>) {
  const { text, by, attachment } = props.block;
  return (
    <Frame
      {...props}
      mark="☻"
      name="You"
      title={by}
      openAtFirst
      body={() => (
        <>
          {text !== "" && <p class="card-said">{upright(text)}</p>}
          {attachment !== null && (
            <Picture artifactId={attachment.artifactId} mime={attachment.mime} about="Attachment" />
          )}
        </>
      )}
    />
  );
}
