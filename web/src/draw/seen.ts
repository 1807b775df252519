/** Text that cannot lie about itself: characters that hide or turn others are written as their number. */
import { plain } from "../text/harmless";

/** As it stands, but for what nobody could see; tabs and line feeds stay. */
export function seen(text: string): string {
  return text
    .split(/([\t\n])/)
    .map((piece, place) => (place % 2 === 1 ? piece : plain(piece)))
    .join("");
}
