/** Files that a compaction read again, and those that had no room: counted and named alike in card, timeline and preview. Pure. */

import type { RestoredFile } from "../src/protocol";

export interface Restored {
  /** What the model sees again. */
  again: RestoredFile[];
  /** What it is only told the name of. */
  named: RestoredFile[];
}

/** The files in two lists. */
export function sortRestored(files: readonly RestoredFile[]): Restored {
  return { again: files.filter((file) => !file.notRead), named: files.filter((file) => file.notRead) };
}

/** `4 files read again`; empty where none was. */
export function readAgainInWords(files: readonly RestoredFile[]): string {
  const { again } = sortRestored(files);
  return again.length === 0 ? "" : `${again.length} ${again.length === 1 ? "file" : "files"} read again`;
}
