/** The page Home. */
import type { Place } from "../../shell/route";

export default function Home({ place }: { place: Place }) {
  return <h1>{place.path.join(" ")}</h1>;
}
