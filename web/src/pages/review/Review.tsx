/** The page Review. */
import type { Place } from "../../shell/route";

export default function Review({ place }: { place: Place }) {
  return <h1>{place.path.join(" ")}</h1>;
}
