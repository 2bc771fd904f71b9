/**
 * The methods of PROTOCOL.md, who sends each, and what it carries. Mirrors `server/ullage/lsp/messages.py`.
 *
 * The types stand in `protocol/`, in files of the same names as those of `server/ullage/lsp/protocol/`. All of them can be imported from here. No VS Code and no
 * DOM: the extension host, the panel and the tests share them. Sizes are tokens, times Unix seconds, money US dollars. Absent and `null`
 * mean the same.
 */

import type { ChangedFile, Checkpoint, Decide, DecidedFile, FileBack, TurnChanges } from "./protocol/changes";
import type { ChatFailure, ChatMessage, ChatTool, EditorModel, Problem, ReplyPart } from "./protocol/editor";
import type { OtherLooked, OtherSession } from "./protocol/comingOver";
import type { ContextFill, ContextQuery } from "./protocol/context";
import type { Epoch, EpochFates, FateGroup, ItemFate, Postpone, Preview, SearchHit } from "./protocol/history";
import type { HookRuns, Instructions } from "./protocol/instructions";
import type { Effort, Item, Optional } from "./protocol/items";
import type { McpServer } from "./protocol/mcp";
import type { Allowed, Asking, CheckedRule, NewRule, RuleScope } from "./protocol/permissions";
import type { OfferedModel } from "./protocol/models";
import type { AttachmentRef, AvailableCommand, GivenAnswer } from "./protocol/prompts";
import type { WorktreeStanding } from "./protocol/running";
import type { BroughtSession, ForkResult, GoneFolder, ModeId, SessionFigures, SessionSummary, Snapshot } from "./protocol/sessions";
import type { UpdateParams } from "./protocol/updates";

export type * from "./protocol/changes";
export type * from "./protocol/comingOver";
export type * from "./protocol/context";
export type * from "./protocol/editor";
export type * from "./protocol/history";
export type * from "./protocol/instructions";
export type * from "./protocol/items";
export type * from "./protocol/mcp";
export type * from "./protocol/models";
export type * from "./protocol/permissions";
export type * from "./protocol/prompts";
export type * from "./protocol/running";
export type * from "./protocol/sessions";
export type * from "./protocol/updates";

export const PROTOCOL_VERSION = 1;

type Nothing = Record<string, never>;

interface OfSession {
  sessionId: string;
}

/** Requests of the client: method → [params, result]. */
export interface ClientRequests {
  "ullage/session/new": [{ worktree?: Optional<boolean> }, Snapshot];
  "ullage/session/list": [Nothing, { sessions: SessionSummary[] }];
  "ullage/session/open": [{ sessionId?: Optional<string> }, Snapshot];
  "ullage/session/snapshot": [OfSession, Snapshot];
  "ullage/session/items": [OfSession & { before: string; limit: number }, { items: Item[]; earlier: number }];
  "ullage/session/fork": [OfSession & { itemId?: Optional<string> }, ForkResult];
  "ullage/session/rename": [OfSession & { title: string }, Nothing];
  "ullage/session/delete": [OfSession, Nothing];
  "ullage/session/close": [OfSession, Nothing];
  "ullage/session/looked": [OfSession, Nothing];
  "ullage/session/leaveRunning": [OfSession & { toolCallId: string }, Nothing];
  "ullage/session/stopCommand": [OfSession & { commandId: string }, Nothing];
  "ullage/session/commandOutput": [OfSession & { commandId: string }, { text: string }];
  "ullage/session/openPort": [OfSession & { commandId: string; port: number }, { port: number }];
  "ullage/session/worktree": [OfSession, WorktreeStanding];
  "ullage/session/bringBack": [OfSession & { paths?: Optional<string[]> }, { files: DecidedFile[] }];
  "ullage/session/takeBack": [OfSession, { files: DecidedFile[] }];
  "ullage/session/removeWorktree": [OfSession, { branch?: Optional<string> }];
  "ullage/session/prompt": [
    OfSession & { text: string; attachments?: Optional<AttachmentRef[]>; delivery?: Optional<"queue" | "steer"> },
    { promptId: string; command?: Optional<{ name: string; sessionId?: Optional<string> }> },
  ];
  "ullage/session/unqueue": [OfSession & { promptId: string }, { attachments: AttachmentRef[] }];
  "ullage/session/cancel": [OfSession, Nothing];
  "ullage/session/continue": [OfSession, Nothing];
  "ullage/session/compact": [OfSession & { focus?: Optional<string> }, { compactionId: string }];
  "ullage/session/postponeCompaction": [OfSession & { until: Postpone }, Nothing];
  "ullage/session/undoCompaction": [OfSession & { compactionId?: Optional<string>; fit?: Optional<boolean> }, { compactionId: string }];
  "ullage/session/redoCompaction": [OfSession & { compactionId?: Optional<string>; fit?: Optional<boolean> }, { compactionId: string }];
  "ullage/session/previewCompaction": [OfSession & { focus?: Optional<string> }, Preview];
  "ullage/session/pin": [OfSession & { itemId?: Optional<string>; path?: Optional<string>; pinned: boolean }, Nothing];
  "ullage/session/clearResult": [OfSession & { itemId: string }, { compactionId: string }];
  "ullage/session/exclude": [OfSession & { itemId?: Optional<string>; path?: Optional<string> }, { compactionId: string }];
  "ullage/session/epochs": [OfSession & { since?: Optional<string> }, { epochs: Epoch[]; fates: ItemFate[] }];
  "ullage/session/epochFates": [
    OfSession & { number: number; group?: Optional<FateGroup>; offset?: Optional<number>; limit?: Optional<number> },
    EpochFates,
  ];
  "ullage/session/context": [OfSession & ContextQuery, ContextFill];
  "ullage/workspace/importable": [Nothing, { brought: BroughtSession[]; tracked: boolean; gone: GoneFolder[] }];
  "ullage/workspace/others": [{ everywhere?: Optional<boolean> }, { sessions: OtherSession[]; more: boolean }];
  "ullage/workspace/lookAtOther": [{ otherId?: Optional<string>; file?: Optional<string> }, OtherLooked];
  "ullage/workspace/goOnWithOther": [{ otherId: string }, Snapshot];
  "ullage/workspace/import": [
    { mine?: Optional<boolean>; fromGone?: Optional<string> },
    { sessions: number; unreadable: number; failures: string[] },
  ];
  "ullage/session/changes": [
    OfSession & { path?: Optional<string>; turnId?: Optional<string> },
    { turns: TurnChanges[]; open: ChangedFile[] },
  ];
  "ullage/session/versionText": [OfSession & { path: string; turnId?: Optional<string> }, { text?: Optional<string> }];
  "ullage/session/keepChanges": [OfSession & Decide, { files: DecidedFile[] }];
  "ullage/session/undoChanges": [OfSession & Decide, { files: DecidedFile[] }];
  "ullage/session/checkpoints": [OfSession, { checkpoints: Checkpoint[] }];
  "ullage/session/previewRestore": [OfSession & { turnId: string }, { files: FileBack[]; uncovered: { path: string; why: string }[] }];
  "ullage/session/restore": [
    OfSession & { turnId: string; what: "files" | "conversation" | "both"; overwrite?: Optional<string[]> },
    { files: DecidedFile[]; fork?: Optional<ForkResult> },
  ];
  "ullage/workspace/search": [{ query: string; limit?: Optional<number> }, { hits: SearchHit[] }];
  "ullage/session/setModel": [OfSession & { model: string }, Nothing];
  "ullage/session/setEffort": [OfSession & { effort: Effort | "default" }, Nothing];
  "ullage/session/export": [OfSession & { format: "markdown" | "jsonl" }, { text: string }];
  "ullage/session/commitMessage": [
    OfSession & { diff: string; newFiles?: Optional<string[]>; recent?: Optional<string[]> },
    { text: string },
  ];
  "ullage/session/setMode": [OfSession & { modeId: ModeId }, Nothing];
  "ullage/permission/respond": [
    OfSession & {
      toolCallId: string;
      permissionId: string;
      optionId: string;
      reason?: Optional<string>;
      rules?: Optional<NewRule[]>;
    },
    Nothing,
  ];
  "ullage/question/respond": [OfSession & { toolCallId: string; questionId: string; answers?: Optional<GivenAnswer[]> }, Nothing];
  "ullage/session/instructions": [OfSession, Instructions];
  "ullage/session/decideHook": [OfSession & { hookId: string; runs?: Optional<HookRuns> }, Nothing];
  "ullage/permission/list": [{ sessionId?: Optional<string> }, { allowed: Allowed[]; asking: Asking }];
  "ullage/permission/forget": [
    { action?: Optional<string>; pattern?: Optional<string>; scope?: Optional<RuleScope>; sessionId?: Optional<string> },
    Nothing,
  ];
  "ullage/permission/allow": [OfSession & { rule: NewRule; replaces?: Optional<NewRule> }, Nothing];
  "ullage/permission/check": [OfSession & { rule: NewRule }, CheckedRule];
  "ullage/mcp/list": [Nothing, { servers: McpServer[]; problems: string[] }];
  "ullage/mcp/turn": [{ name: string; fingerprint: string; on: boolean }, Nothing];
  "ullage/mcp/restart": [{ name: string }, Nothing];
  "ullage/mcp/log": [{ name: string }, { text: string }];
  "ullage/mcp/signIn": [{ name: string }, Nothing];
  "ullage/mcp/signOut": [{ name: string }, Nothing];
  "ullage/command/list": [{ sessionId?: Optional<string> }, { commands: AvailableCommand[] }];
  "ullage/model/list": [{ address?: Optional<string>; provider?: Optional<"anthropic" | "openai" | "editor"> }, { models: OfferedModel[] }];
  "ullage/model/try": [{ model: string; address?: Optional<string>; provider?: Optional<"anthropic" | "openai"> }, Nothing];
}

/** Notifications of the client: method → params. */
export interface ClientNotifications {
  /** Whether that version of an open document has changes that are not saved. */
  "ullage/editor/dirty": { uri: string; version: number; isDirty: boolean };
  /** The editor offers other language models than before. */
  "ullage/editor/modelsChanged": Nothing;
  /** The next parts of a reply. */
  "ullage/editor/chatParts": { chatId: string; parts: ReplyPart[] };
}

/** Notifications of the server: method → params. */
export interface ServerNotifications {
  "ullage/session/update": UpdateParams;
  "ullage/session/listChanged": Nothing;
  "ullage/mcp/changed": Nothing;
  "ullage/session/figures": OfSession & { figures: SessionFigures };
}

/** Requests of the server: method → [params, result]. */
export interface ServerRequests {
  "ullage/editor/diagnostics": [{ uri?: Optional<string> }, { problems: Problem[] }];
  "ullage/editor/models": [Nothing, { models: EditorModel[] }];
  "ullage/editor/chat": [
    { chatId: string; model: string; messages: ChatMessage[]; tools: ChatTool[] },
    { failure?: Optional<ChatFailure> },
  ];
  "ullage/editor/countTokens": [{ model: string; texts: string[] }, { counts: number[] }];
  "ullage/secret/read": [{ key: string }, { value?: Optional<string> }];
  "ullage/secret/keep": [{ key: string; value?: Optional<string> }, Nothing];
}

export type ClientMethod = keyof ClientRequests;

export type ParamsOf<M extends ClientMethod> = ClientRequests[M][0];

export type ResultOf<M extends ClientMethod> = ClientRequests[M][1];

/** Every method by who sends it, so that a test can hold these types, PROTOCOL.md and the fixtures together. */
export const METHODS = {
  clientRequests: namesOf<ClientMethod>({
    "ullage/session/new": true,
    "ullage/session/list": true,
    "ullage/session/open": true,
    "ullage/session/snapshot": true,
    "ullage/session/items": true,
    "ullage/session/fork": true,
    "ullage/session/rename": true,
    "ullage/session/delete": true,
    "ullage/session/close": true,
    "ullage/session/looked": true,
    "ullage/session/leaveRunning": true,
    "ullage/session/stopCommand": true,
    "ullage/session/commandOutput": true,
    "ullage/session/openPort": true,
    "ullage/session/worktree": true,
    "ullage/session/bringBack": true,
    "ullage/session/takeBack": true,
    "ullage/session/removeWorktree": true,
    "ullage/session/prompt": true,
    "ullage/session/unqueue": true,
    "ullage/session/cancel": true,
    "ullage/session/continue": true,
    "ullage/session/compact": true,
    "ullage/session/postponeCompaction": true,
    "ullage/session/undoCompaction": true,
    "ullage/session/redoCompaction": true,
    "ullage/session/previewCompaction": true,
    "ullage/session/pin": true,
    "ullage/session/clearResult": true,
    "ullage/session/exclude": true,
    "ullage/session/epochs": true,
    "ullage/session/epochFates": true,
    "ullage/session/context": true,
    "ullage/workspace/importable": true,
    "ullage/workspace/others": true,
    "ullage/workspace/lookAtOther": true,
    "ullage/workspace/goOnWithOther": true,
    "ullage/workspace/import": true,
    "ullage/session/changes": true,
    "ullage/session/versionText": true,
    "ullage/session/keepChanges": true,
    "ullage/session/undoChanges": true,
    "ullage/session/checkpoints": true,
    "ullage/session/previewRestore": true,
    "ullage/session/restore": true,
    "ullage/workspace/search": true,
    "ullage/session/setModel": true,
    "ullage/session/setEffort": true,
    "ullage/session/export": true,
    "ullage/session/commitMessage": true,
    "ullage/session/setMode": true,
    "ullage/session/instructions": true,
    "ullage/session/decideHook": true,
    "ullage/permission/respond": true,
    "ullage/question/respond": true,
    "ullage/permission/list": true,
    "ullage/permission/forget": true,
    "ullage/permission/allow": true,
    "ullage/permission/check": true,
    "ullage/mcp/list": true,
    "ullage/mcp/turn": true,
    "ullage/mcp/restart": true,
    "ullage/mcp/log": true,
    "ullage/mcp/signIn": true,
    "ullage/mcp/signOut": true,
    "ullage/command/list": true,
    "ullage/model/list": true,
    "ullage/model/try": true,
  }),
  clientNotifications: namesOf<keyof ClientNotifications>({
    "ullage/editor/dirty": true,
    "ullage/editor/modelsChanged": true,
    "ullage/editor/chatParts": true,
  }),
  serverNotifications: namesOf<keyof ServerNotifications>({
    "ullage/session/update": true,
    "ullage/session/listChanged": true,
    "ullage/mcp/changed": true,
    "ullage/session/figures": true,
  }),
  serverRequests: namesOf<keyof ServerRequests>({
    "ullage/editor/diagnostics": true,
    "ullage/editor/models": true,
    "ullage/editor/chat": true,
    "ullage/editor/countTokens": true,
    "ullage/secret/read": true,
    "ullage/secret/keep": true,
  }),
};

/** The compiler refuses a table that misses a name or has one too many. */
function namesOf<Name extends string>(table: Record<Name, true>): readonly Name[] {
  return Object.keys(table) as Name[];
}

/** Code of the errors that are meant for the user; their `data` is `{reason}`. */
export const USER_ERROR_CODE = -32050;
