/** Where the gateway is: beside the page, whatever prefix a proxy has put before both. */

/** The address of an API path such as `runs/run_1`. */
export function address(path: string, query: Query = {}): URL {
  const url = new URL(`hecate/v1/${path}`, pageFolder());
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url;
}

export type Query = Record<string, string | number | boolean | undefined>;

function pageFolder(): string {
  return new URL(".", location.href.split("#")[0]).href;
}
