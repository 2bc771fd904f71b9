/** What the panel and the extension host say to each other. Shared by both: no VS Code and no DOM in here. */

import type { ClientMethod, ForkPrompt, LineRange, ParamsOf, SessionFigures, Snapshot, UpdateParams } from "../src/protocol";
import type { ServerStatus } from "../src/server/answers";

/** Requests that the host passes on to the server as they are. */
export const PASS_THROUGH = [
  "ullage/session/list",
  "ullage/session/items",
  "ullage/session/prompt",
  "ullage/command/list",
  "ullage/session/unqueue",
  "ullage/session/cancel",
  "ullage/session/continue",
  "ullage/session/compact",
  "ullage/session/undoCompaction",
  "ullage/session/redoCompaction",
  "ullage/session/previewCompaction",
  "ullage/session/pin",
  "ullage/session/clearResult",
  "ullage/session/exclude",
  "ullage/session/epochs",
  "ullage/session/epochFates",
  "ullage/session/context",
  "ullage/session/changes",
  "ullage/session/keepChanges",
  "ullage/session/undoChanges",
  "ullage/session/leaveRunning",
  "ullage/session/stopCommand",
  "ullage/session/setModel",
  "ullage/session/setMode",
  "ullage/session/instructions",
  "ullage/session/decideHook",
  "ullage/permission/respond",
  "ullage/question/respond",
  "ullage/permission/list",
  "ullage/permission/forget",
  "ullage/permission/allow",
  "ullage/permission/check",
  "ullage/workspace/others",
  "ullage/workspace/lookAtOther",
  "ullage/mcp/list",
] as const satisfies readonly ClientMethod[];

export type PassThroughMethod = (typeof PASS_THROUGH)[number];

/** Commands that the panel may run. */
export const PANEL_COMMANDS = [
  "ullage.newSession",
  "ullage.newSessionInWorktree",
  "ullage.worktree",
  "ullage.openSession",
  "ullage.renameSession",
  "ullage.deleteSession",
  "ullage.forkListed",
  "ullage.editPrompt",
  "ullage.forkSession",
  "ullage.searchSessions",
  "ullage.previewCompaction",
  "ullage.showTimeline",
  "ullage.selectModel",
  "ullage.selectEffort",
  "ullage.selectMode",
  "ullage.setApiKey",
  "ullage.setUpModel",
  "ullage.openSettings",
  "ullage.restartServer",
  "ullage.showLogs",
  "ullage.importSessions",
  "ullage.addTeamPackages",
  "ullage.comeOver",
  "ullage.chooseOther",
  "ullage.goOnWithOther",
  "ullage.showPermissions",
  "ullage.showInstructions",
  "ullage.mcpServers",
  "ullage.askFor",
  "ullage.openProposedEdit",
  "ullage.reviewChanges",
  "ullage.reviewTurn",
  "ullage.reviewFile",
  "ullage.undoAllChanges",
  "ullage.keepTurn",
  "ullage.undoTurn",
  "ullage.goBack",
  "ullage.showRunning",
  "ullage.showCommandOutput",
  "ullage.openCommandPort",
] as const;

export type PanelCommand = (typeof PANEL_COMMANDS)[number];

/** A file of the workspace, a folder, or lines of a file, offered after `@`. */
export interface FileSuggestion {
  uri: string;
  /** Relative to its workspace folder. */
  path: string;
  /** Open in an editor. */
  open: boolean;
  kind?: "folder" | "selection" | "symbol";
  /** Of a symbol, and how a selection is called. */
  name?: string;
  /** Only these lines are meant. */
  lines?: LineRange;
}

/** What the host puts together for a prompt when it is named after `@`. */
export type Gathered = "changes" | "staged" | "terminal" | "terminalSelection";

/** An image that the panel may draw. */
export interface ImageFile {
  bytes: Uint8Array<ArrayBuffer>;
  /** Such as `image/png`. */
  mediaType: string;
}

/** What the host may have the panel show. */
export type PanelView =
  | { kind: "preview" }
  | { kind: "timeline" }
  | { kind: "context" }
  /** All sessions of the workspace. */
  | { kind: "sessions" }
  | { kind: "permissions" }
  /** Rules, skills, commands and hooks. */
  | { kind: "instructions" }
  /** Sessions of other programs; with `file` that one, which the user chose. */
  | { kind: "others"; file?: string }
  /** `words` are marked in it. */
  | { kind: "item"; sessionId: string; itemId: string; words?: string }
  /** Put into the prompt box, to be written in another way. */
  | { kind: "prompt"; prompt: ForkPrompt };

export type ToHost =
  /** The panel has loaded and wants its first snapshot. */
  | { type: "ready" }
  /** The focus came into the panel's page, or left it. */
  | { type: "focused"; focused: boolean }
  /** Updates are missing: a snapshot is wanted. */
  | { type: "resync" }
  | { type: "request"; id: number; method: PassThroughMethod; params: ParamsOf<PassThroughMethod> }
  | { type: "findFiles"; id: number; query: string }
  /** Something that the editor shows, to be attached: an `AttachmentRef` is the answer. */
  | { type: "gather"; id: number; what: Gathered }
  /** The bytes of an image that is a file of the workspace, or kept of a session. */
  | { type: "readImage"; id: number; path: string }
  | { type: "command"; command: PanelCommand; argument?: string }
  /** A web address. */
  | { type: "openLink"; href: string }
  /** A path in the workspace, absolute or relative to a folder. `line` counts from 1; `near` is a line of text to look for instead. */
  | { type: "openFile"; path: string; line?: number; near?: string }
  | { type: "copy"; text: string }
  /** To be put where the cursor stands in an editor. */
  | { type: "insert"; text: string }
  /** To be put into a file, once the user has seen the change: the one that is named, else the one in the active editor. */
  | { type: "apply"; text: string; path?: string };

/** Of sessions, whether they are shown or not. */
export type SessionNews =
  /** Some were made, renamed or deleted. */
  { type: "listChanged" } | { type: "figures"; sessionId: string; figures: SessionFigures };

export type ToPanel =
  | SessionNews
  | { type: "snapshot"; snapshot: Snapshot }
  | { type: "update"; params: UpdateParams }
  | { type: "server"; status: ServerStatus }
  /** What the server wants the user to know apart from the session: all that holds now, and what is well again. */
  | { type: "warnings"; texts: readonly string[]; note?: string }
  /** The answer to a `request`, `findFiles`, `gather` or `readImage` with this id: a result, or a message for the user and, where the server refused, its reason. */
  | { type: "response"; id: number; result?: unknown; error?: string; reason?: string }
  | { type: "show"; view: PanelView }
  | { type: "focusPrompt" }
  | { type: "sound"; what: "waits" | "done" }
  /** A key answers the question that is in sight; where none is, the next one is shown. */
  | { type: "answerApproval"; allow: boolean }
  /** Goes to the next question that waits. */
  | { type: "nextApproval" };
