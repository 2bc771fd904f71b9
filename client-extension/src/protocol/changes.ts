/** What the agent changed in files. Mirrors `server/ullage/lsp/protocol/changes.py`; see PROTOCOL.md, "Changed files". */

import type { Optional } from "./items";

/** One open change: lines of the text before (`old`) and of the text now, counted from 1. */
export interface Hunk {
  id: string;
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** The user typed in it: it is theirs, and is not undone. */
  edited?: Optional<boolean>;
}

/** A file that the agent changed. `added` and `removed` are lines. */
export interface ChangedFile {
  path: string;
  uri: string;
  status: "created" | "modified" | "deleted";
  added: number;
  removed: number;
  binary?: Optional<boolean>;
  /** What is particular about it, for the user. */
  note?: Optional<string>;
  /** Absent where the file can only be kept or undone as a whole, and in lists that do not have them. */
  hunks?: Optional<Hunk[]>;
}

/** What the agent changed and the user has neither kept nor undone. `files` are the first ones, `count` is how many there are. */
export interface OpenChanges {
  files: ChangedFile[];
  count: number;
  added: number;
  removed: number;
  /** The newest turns with open changes, the oldest first, and in how many files. */
  turns?: OpenTurn[] | null;
}

/** A turn with open changes. `turnId` is the id of its prompt. */
export interface OpenTurn {
  turnId: string;
  title: string;
  files: number;
}

/** What one turn changed. `turnId` is the id of its prompt. */
export interface TurnChanges {
  turnId: string;
  title: string;
  at: number;
  files: ChangedFile[];
  /** What may have changed besides, and cannot be gone back to. */
  uncovered: { path: string; why: string }[];
}

/** What came of keeping or undoing changes of a file. `why` says what stands in the way, or what stays. */
export interface DecidedFile {
  path: string;
  outcome: "done" | "conflict";
  why?: Optional<string>;
}

/** A moment that the files can be gone back to: before the turn of a prompt (its id), or `forward` again after that. */
export interface Checkpoint {
  turnId: string;
  title: string;
  at: number;
  /** How many files changed then. */
  files: number;
  forward?: Optional<boolean>;
}

/** What would become of a file. With a `conflict` it stays as it is unless it is named in `overwrite`; where it `stays`, in any case. */
export interface FileBack {
  path: string;
  uri: string;
  action: "write" | "create" | "delete";
  conflict?: Optional<string>;
  stays?: Optional<boolean>;
}

/** All changes, those of a file, one hunk of it, or those of a turn. */
export interface Decide {
  path?: Optional<string>;
  hunkId?: Optional<string>;
  turnId?: Optional<string>;
}
