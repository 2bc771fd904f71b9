/** What kind of image some bytes are, by their first ones. No VS Code in here. */

const SIGNATURES: readonly (readonly [type: string, first: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
];

/** Its media type; undefined where it is none of those that are shown. */
export function imageType(bytes: Uint8Array): string | undefined {
  const first = String.fromCharCode(...bytes.subarray(0, 12));
  return SIGNATURES.find(([, signature]) => signature.test(first))?.[0];
}
