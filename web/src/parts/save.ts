/** Hands bytes to the reader as a file. */

/** Save under this name; the browser asks where, as it does for any download. */
export function save(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
