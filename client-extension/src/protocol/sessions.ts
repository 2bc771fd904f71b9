/** Sessions as a whole: snapshots, the list, forks, imports, modes. Mirrors `server/ullage/lsp/protocol/sessions.py`. */

import type { OpenChanges } from "./changes";
import type { Pins } from "./history";
import type { Gauge, Item, ModelInfo, Optional, PlanEntry, RetryInfo, SessionState, TurnCost } from "./items";
import type { AttachmentRef } from "./prompts";
import type { RunningCommand, Worktree } from "./running";

export type ModeId = "ask" | "plan" | "act";

/** A mode that can be chosen. */
export interface SessionMode {
  id: ModeId;
  name: string;
  description: string;
}

/** What the agent may do, and what it could be allowed. */
export interface SessionModes {
  currentModeId: ModeId;
  availableModes: SessionMode[];
}

/** A turn in whose midst the items of a snapshot begin. */
export interface NewestTurn {
  promptId: string;
  turnCost?: Optional<TurnCost>;
}

/** All that a panel has to know of a session. `seq` is the number of the last update in it. */
export interface Snapshot {
  sessionId: string;
  seq: number;
  title: string;
  state: SessionState;
  retry?: Optional<RetryInfo>;
  items: Item[];
  /** How many items precede `items`. */
  earlier: number;
  plan: PlanEntry[];
  gauge: Gauge;
  model: ModelInfo;
  pins?: Optional<Pins>;
  /** Absent where it can only be read. */
  modes?: Optional<SessionModes>;
  forkedFrom?: Optional<ForkOrigin>;
  /** The folder, outside of the workspace, in which what belongs to its sessions is kept. Absent where that is only in memory. */
  storeFolder?: Optional<string>;
  /** Somebody else may have written it: it can be read, and nothing can be done in it. */
  foreign?: Optional<boolean>;
  /** Absent where nothing is open. */
  changes?: Optional<OpenChanges>;
  /** Where the agent works, if that is not the workspace folder. */
  worktree?: Optional<Worktree>;
  /** The newest turn, where its prompt is not among `items`. */
  turn?: Optional<NewestTurn>;
  /** The session that called it, where it is a sub-agent's: it can be read, and only stopped while it works. */
  agentOf?: Optional<string>;
  /** Absent where nothing runs in the background. */
  running?: Optional<RunningCommand[]>;
}

/** The session that a fork comes from, with its title of then. It may be gone by now. */
export interface ForkOrigin {
  sessionId: string;
  title: string;
}

/** The prompt that a session was forked before, to be written in another way. */
export interface ForkPrompt {
  text: string;
  attachments: AttachmentRef[];
}

/** A session that was forked. `prompt` is that of the item where it is one. */
export interface ForkResult {
  snapshot: Snapshot;
  prompt?: Optional<ForkPrompt>;
}

/** A session in the list. */
export interface SessionSummary {
  sessionId: string;
  title: string;
  updatedAt: number;
  state: SessionState;
  /** Somebody else may have written it: it can be read, and nothing can be done in it. */
  foreign?: Optional<boolean>;
  /** Another window has it open: here it can be forked and renamed, and not opened. */
  openElsewhere?: Optional<boolean>;
  /** Absent where nothing is known, as of one that an earlier version wrote. */
  figures?: Optional<SessionFigures>;
  /** Where its agent works, if that is not the workspace folder. */
  worktree?: Optional<Worktree>;
}

/** What the list says of a session beside its title. */
export interface SessionFigures {
  /** `done`: its last turn has ended, and nobody has looked at it since. */
  status: "idle" | "working" | "waiting" | "done" | "failed" | "interrupted";
  /** Tokens, as the gauge has them, and where it compacts. */
  used?: Optional<number>;
  threshold?: Optional<number>;
  /** Dollars. */
  cost?: Optional<number>;
  /** Files with open changes, and lines. */
  files?: Optional<number>;
  added?: Optional<number>;
  removed?: Optional<number>;
  /** Commands in the background. */
  running?: Optional<number>;
}

/** A session in `.ullage` of the workspace; `waiting` are prompts that were not sent. */
export interface BroughtSession {
  title: string;
  updatedAt: number;
  entries: number;
  waiting: number;
}

/** A folder that is gone, and of which sessions are kept. */
export interface GoneFolder {
  folder: string;
  sessions: number;
  updatedAt: number;
}
