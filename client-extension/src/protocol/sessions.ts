/** Sessions as a whole: snapshot and updates, the list, worktrees, forks, what runs in the background; and what prompts carry. Mirrors the types of `server/ullage/lsp/protocol.py`. */

import type { OpenChanges } from "./changes";
import type { Pins } from "./history";
import type { Gauge, Item, ModelInfo, Optional, PlanEntry, RetryInfo, SessionState, TurnCost } from "./items";

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

/** A turn that is over: of which prompt, and why. */
export interface EndedTurn {
  promptId: string;
  stopReason: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "error";
}

/** What changed in a session. */
export type Update =
  | { kind: "item"; item: Item }
  | { kind: "append"; itemId: string; field: "text" | "output" | "input"; text: string }
  | { kind: "remove"; itemId: string }
  | { kind: "state"; state: SessionState; retry?: Optional<RetryInfo>; ended?: Optional<EndedTurn> }
  | { kind: "gauge"; gauge: Gauge }
  | { kind: "plan"; entries: PlanEntry[] }
  | { kind: "title"; title: string }
  | { kind: "model"; model: ModelInfo }
  | { kind: "pins"; pins: Pins }
  | { kind: "changes"; changes: OpenChanges }
  | { kind: "mode"; currentModeId: ModeId }
  | { kind: "running"; commands: RunningCommand[] };

/** An update by its number: one follows the other. */
export interface UpdateParams {
  sessionId: string;
  seq: number;
  update: Update;
}

/** For how long nothing is compacted to save; `none` takes that back. */
export type Postpone = "turn" | "session" | "none";

/** The first and the last line, counted from 1. */
export interface LineRange {
  first: number;
  last: number;
}

/** What the user attaches to a prompt. */
export type AttachmentRef =
  /** A file, a folder, or a document that was never saved. */
  | { kind: "file"; uri: string; lines?: Optional<LineRange> }
  /** A text that is in no file; `name` says where it is from. */
  | { kind: "text"; name: string; text: string }
  | { kind: "problems" }
  /** A page of the web, which the server fetches once when the prompt is sent. */
  | { kind: "page"; url: string }
  /** A resource of an MCP server, which the server reads when the prompt is sent. */
  | { kind: "resource"; server: string; uri: string }
  /** The base64 of an image, and the name of the file that was dropped. */
  | { kind: "pasted"; data: string; name?: Optional<string> };

/** A problem that the editor shows in a file. */
export interface Problem {
  uri: string;
  /** Counts from 1. */
  line: number;
  severity: "error" | "warning" | "information" | "hint";
  source: string;
  message: string;
}

/** A command that can be sent as a prompt, as the Agent Client Protocol names them. */
export interface AvailableCommand {
  name: string;
  description: string;
  /** What can follow the name. */
  input?: Optional<{ hint: string }>;
  /** The file of the project that it stands in; none where it is Ullage's own. */
  source?: Optional<string>;
}

/** What the user gives to one question. With neither they leave it out. */
export interface GivenAnswer {
  optionIds?: Optional<string[]>;
  text?: Optional<string>;
}

/** A model that an endpoint offers. */
export interface OfferedModel {
  name: string;
  displayName: string;
  /** Tokens; absent where nobody tells. */
  window?: Optional<number>;
  /** Dollars per million tokens. */
  prices?: Optional<{ input: number; output: number }>;
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
