/** The page Usage. */
import type { Place } from "../../shell/route";

export default function Usage({ place }: { place: Place }) {
  return <h1>{place.path.join(" ")}</h1>;
}
