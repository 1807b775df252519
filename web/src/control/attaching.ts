/** Files that go with the prompt, as the gateway takes them. */

export interface Attachment {
  readonly name: string;
  readonly mime: string;
  readonly base64: string;
  readonly bytes: number;
}

/** What is sent of attachments. */
export function sentOf(attachments: readonly Attachment[]): readonly { mime: string; base64: string }[] {
  return attachments.map(({ mime, base64 }) => ({ mime, base64 }));
}

/** The gateway takes a mebibyte in one request; base64 makes a third more of it. */
export const MOST_BYTES = 700_000;

/** Read chosen files; those that are too large together are a mistake that says so. */
export async function attach(known: readonly Attachment[], files: Iterable<File>): Promise<readonly Attachment[]> {
  const found = [...known];
  for (const file of files) {
    found.push({
      name: file.name,
      mime: file.type || "application/octet-stream",
      base64: base64(new Uint8Array(await file.arrayBuffer())),
      bytes: file.size,
    });
  }
  const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > MOST_BYTES) throw new Error("Attachments are too large: together they may have 700 kB.");
  return found;
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let index = 0; index < bytes.length; index += 8_192) {
    binary += String.fromCharCode(...bytes.subarray(index, index + 8_192));
  }
  return btoa(binary);
}
