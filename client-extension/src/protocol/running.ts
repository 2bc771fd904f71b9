/** Where a session works, and what goes on there in the background: worktrees, commands. Mirrors `server/ullage/lsp/protocol/running.py`. */

import type { Optional } from "./items";

/** A command that goes on in the background, or has ended and the model does not know yet. */
export interface RunningCommand {
  id: string;
  /** The call that began it. */
  toolCallId: string;
  /** Its line, shortened. */
  command: string;
  /** Unix seconds, as `endedAt`. */
  began: number;
  /** That it said; absent where it has said nothing. */
  lastLine?: Optional<string>;
  /** Of `localhost`, on which it listens in its sandbox. */
  ports?: Optional<number[]>;
  /** How it ended: by itself, by a signal, at its time limit, stopped; or it could not be run. Absent while it runs. */
  end?: Optional<"exited" | "killed" | "late" | "stopped" | "failed">;
  endedAt?: Optional<number>;
  exitCode?: Optional<number>;
  /** It has ended in failure, and nobody had it stopped. */
  failed?: Optional<boolean>;
}

/** Where the agent of a session works. `path` is absolute. */
export interface Worktree {
  path: string;
  branch: string;
}

/** A file that is different in a worktree, and what bringing it back would do to the one in the workspace folder. */
export interface WorktreeFile {
  path: string;
  uri: string;
  homeUri: string;
  action: "write" | "create" | "delete" | "join" | "same";
  /** Why it stays as it is, in words. */
  conflict?: Optional<string>;
}

/** What a worktree has that the workspace folder has not. */
export interface WorktreeStanding {
  worktree: Worktree;
  files: WorktreeFile[];
  /** Of its branch, beyond the one that it began from. */
  commits: number;
  more?: Optional<boolean>;
  /** Files that were brought last and can be taken back. */
  brought?: Optional<number>;
}
