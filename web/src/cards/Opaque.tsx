/** An event that this release does not know: its type, and its data as they are. */
import { Json } from "../draw/Json";
import type { Opaque } from "../fold/blocks";
import { plain } from "../text/harmless";
import { type CardProps, Frame } from "./Frame";

export function OpaqueCard(props: CardProps<Opaque>) {
  const { type, data } = props.block;
  return (
    <Frame
      {...props}
      mark="?"
      name="Event"
      title={<code>{plain(type)}</code>}
      facts={<span class="card-fact">not known to this release</span>}
      body={() => <Json value={data} />}
    />
  );
}
