/** How long ago something was; the exact moment pops up. */
import { ago, moment } from "../text/words";
import { nowMs } from "./clock";

export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at, nowMs.value)}
    </time>
  );
}
