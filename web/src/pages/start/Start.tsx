/** The page Start. */
import type { Place } from "../../shell/route";

export default function Start({ place }: { place: Place }) {
  return <h1>{place.path.join(" ")}</h1>;
}
