/** Something other than text that the model made. */
import type { Media } from "../fold/blocks";
import { type CardProps, Frame } from "./Frame";
import { Picture } from "./Picture";

export function MediaCard(props: CardProps<Media>) {
  const { mime, artifactId, summary } = props.block;
  return (
    <Frame
      {...props}
      mark="▣"
      name="Media"
      title={summary || mime}
      openAtFirst
      body={() => <Picture artifactId={artifactId} mime={mime} about={summary || mime} />}
    />
  );
}
