/** What a document is called that is attached. No VS Code and no DOM in here. */

/** The scheme of documents that were never saved. */
export const UNTITLED = "untitled";

/** Whether a document with that URI can be attached: a file, or one that was never saved. */
export function isAttachable(uri: string): boolean {
  return /^(file|vscode-remote|untitled):/.test(uri);
}

/** The file's name, or that of the new document, to be shown. */
export function nameInUri(uri: string): string {
  const begin = Math.max(uri.lastIndexOf("/"), uri.startsWith(`${UNTITLED}:`) ? UNTITLED.length : -1);
  const name = uri.slice(begin + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a sign that stands for itself
  }
}
