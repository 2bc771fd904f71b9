/**
 * What can be told of a file without the editor: its name, how well it matches what was typed, its kind of image, where a line stands. No VS Code
 * and no DOM in here.
 */

import type { LineRange } from "../protocol";

/** The scheme of documents that were never saved. */
export const UNTITLED = "untitled";

/** Whether a document with that URI can be attached: a file, or one that was never saved. */
export function isAttachable(uri: string): boolean {
  return /^(file|vscode-remote|untitled):/.test(uri);
}

/**
 * The URI, as the server knows it, of what was dragged or copied out of the workbench; undefined for what is no document of this window's machine.
 *
 * In a window on a remote machine the workbench says `vscode-remote://MACHINE/…` for files of that machine, where extensions run and say `file:`.
 * `file:` there means the user's own machine, which the server cannot read: what is dropped from there comes as its bytes.
 */
export function uriHere(uri: string, isRemote: boolean): string | undefined {
  const ofRemote = /^vscode-remote:\/\/[^/]*(\/.*)$/.exec(uri)?.[1];
  if (ofRemote !== undefined) {
    return isRemote ? `file://${ofRemote}` : undefined;
  }
  return uri.startsWith(`${UNTITLED}:`) || (uri.startsWith("file:") && !isRemote) ? uri : undefined;
}

/** The file's name, or that of the new document, to be shown. */
export function nameInUri(uri: string): string {
  const begin = Math.max(uri.lastIndexOf("/"), uri.startsWith(`${UNTITLED}:`) ? UNTITLED.length : -1);
  const name = uri.slice(begin + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a percent sign that is no escape
  }
}

/** `tank.py:10-20`, as the server names lines of a file. */
export function withLines(name: string, lines: LineRange | undefined): string {
  if (lines === undefined) {
    return name;
  }
  return lines.first === lines.last ? `${name}:${lines.first}` : `${name}:${lines.first}-${lines.last}`;
}

interface Rankable {
  path: string;
  open: boolean;
}

/** The best `limit` files whose path has the letters of `query` in order; better matches, then open ones, then shorter paths first. */
export function rankFiles<File extends Rankable>(query: string, files: readonly File[], limit: number): File[] {
  const wanted = query.toLowerCase();
  return files
    .map((file) => ({ file, rank: rankOf(wanted, file.path.toLowerCase()) }))
    .filter(({ rank }) => rank > 0)
    .toSorted(
      (a, b) =>
        b.rank - a.rank ||
        Number(b.file.open) - Number(a.file.open) ||
        a.file.path.length - b.file.path.length ||
        compare(a.file.path, b.file.path),
    )
    .slice(0, limit)
    .map(({ file }) => file);
}

/** 4 the name begins with it, 3 the name has it, 2 the path has it, 1 its letters stand in the path in order, 0 no match. */
function rankOf(wanted: string, path: string): number {
  if (wanted === "") {
    return 1;
  }
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) {
    return 4;
  }
  if (name.includes(wanted)) {
    return 3;
  }
  if (path.includes(wanted)) {
    return 2;
  }
  let at = -1;
  for (const letter of wanted) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) {
      return 0;
    }
  }
  return 1;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const SIGNATURES: readonly (readonly [type: string, ...beginnings: string[]])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a", "GIF89a"],
];

/** Its media type; undefined if it is none of those that are shown. */
export function imageType(bytes: Uint8Array): string | undefined {
  const first = String.fromCharCode(...bytes.subarray(0, 12));
  if (first.startsWith("RIFF") && first.endsWith("WEBP")) {
    return "image/webp";
  }
  return SIGNATURES.find(([, ...beginnings]) => beginnings.some((beginning) => first.startsWith(beginning)))?.[0];
}

/** Which line it is (from 0): the first that is the same, else the first that holds it; undefined if none does. */
export function lineWith(text: string, wanted: string): number | undefined {
  if (wanted.trim() === "") {
    return undefined;
  }
  const lines = text.split(/\r?\n/);
  const same = lines.indexOf(wanted);
  const found = same >= 0 ? same : lines.findIndex((line) => line.includes(wanted.trim()));
  return found >= 0 ? found : undefined;
}
