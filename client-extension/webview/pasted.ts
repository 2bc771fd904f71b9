/** Images on the clipboard, and what is dropped. */

import { isAttachable } from "../src/documentName";

/** What an image is called that was pasted. */
export const PASTED = "pasted image";

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The images of a paste; none where it has words, too. */
export function pastedImages(clipboard: DataTransfer | null): File[] {
  if (clipboard === null || clipboard.getData("text/plain") !== "") {
    return [];
  }
  return [...clipboard.files].filter(({ type }) => TYPES.has(type));
}

/** Names of files that are no images that can be attached; none where words came, too. */
export function otherFiles(given: DataTransfer | null): string[] {
  if (given === null || given.getData("text/plain") !== "") {
    return [];
  }
  return [...given.files].filter(({ type }) => !TYPES.has(type)).map(({ name }) => name);
}

/** Files and new documents of the editor or its explorer that were dropped or pasted. */
export function fileUris(given: DataTransfer | null): string[] {
  const listed = given?.getData("application/vnd.code.uri-list") || given?.getData("text/uri-list") || "";
  return listed.split(/\r?\n/).filter((uri) => isAttachable(uri));
}

/** Bytes that become text at one go: a call takes only so many arguments. */
const CHUNK = 8_192;

export async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
  }
  return btoa(parts.join(""));
}
