/** An address from the wire: a link if it leads to the web, else the bare text. */
import { webLink } from "./links";
import { seen } from "./seen";

export function Link({ address }: { address: string }) {
  const safe = webLink(address);
  if (safe === null) return <span>{seen(address)}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {seen(address)}
    </a>
  );
}
