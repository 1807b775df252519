/** The page Run. */
import type { Place } from "../../shell/route";

export default function Run({ place }: { place: Place }) {
  return <h1>{place.path.join(" ")}</h1>;
}
