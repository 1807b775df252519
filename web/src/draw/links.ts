/** Which addresses may be followed. Text from the wire becomes a link only here. */

const MAX_CHARS = 2_000;

/** The address if it leads to the web, else nothing: no script, no file, no data, nothing relative. */
export function webLink(text: string): string | null {
  if (text.length > MAX_CHARS || !/^https?:\/\//i.test(text)) return null;
  try {
    const url = new URL(text);
    // A name before the host is there to be taken for the host.
    if (url.username !== "" || url.password !== "") return null;
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}
