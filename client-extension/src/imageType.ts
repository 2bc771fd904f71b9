/** What kind of image some bytes are, by their first ones. No VS Code in here. */

const SIGNATURES: readonly (readonly [type: string, ...beginnings: string[]])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a", "GIF89a"],
];

/** Its media type; undefined where it is none of those that are shown. */
export function imageType(bytes: Uint8Array): string | undefined {
  const first = String.fromCharCode(...bytes.subarray(0, 12));
  if (first.startsWith("RIFF") && first.endsWith("WEBP")) {
    return "image/webp";
  }
  return SIGNATURES.find(([, ...beginnings]) => beginnings.some((beginning) => first.startsWith(beginning)))?.[0];
}
