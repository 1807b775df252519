/** The page Approvals. */
import type { Place } from "../../shell/route";

export default function Approvals({ place }: { place: Place }) {
  return <h1>{place.path.join(" ")}</h1>;
}
