/** The page Audit. */
import type { Place } from "../../shell/route";

export default function Audit({ place }: { place: Place }) {
  return <h1>{place.path.join(" ")}</h1>;
}
