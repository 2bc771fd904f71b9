/** What each command does. Every one has a defined answer when the server is down: a message that says so. */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import { showAllowed } from "./allowedList";
import type { ApiKey } from "./apiKey";
import { attachEditor } from "./attachEditor";
import type { ChatView } from "./chatView";
import type { ServerConnection } from "./client";
import type { CompactionNotice } from "./compactionNotice";
import { excludeFiles, pinFiles } from "./fileMarks";
import { forkSession } from "./forking";
import { importSessions } from "./importing";
import { pickEffort, pickModel } from "./modelPicker";
import { pickSession } from "./pickers";
import type { ProposedChanges } from "./proposedChanges";
import type { Postpone } from "./protocol";
import { searchSessions } from "./search";
import { setUpKey, setUpModel } from "./setUp";
import { takeTour } from "./tour";
import { undoOrRedo } from "./undoing";
import { warn } from "./notify";

export interface CommandParts {
  connection: ServerConnection;
  session: ActiveSession;
  chat: ChatView;
  apiKey: ApiKey;
  notice: CompactionNotice;
  proposed: ProposedChanges;
  log: vscode.LogOutputChannel;
}

/** Gets what the place gives that the command was chosen from: in the explorer, files. */
type Handler = (...given: unknown[]) => Promise<unknown> | void;

/** Registers all commands of the manifest. */
export function registerCommands(parts: CommandParts): vscode.Disposable {
  const { connection, session, chat, apiKey, notice, proposed, log } = parts;
  const handlers: Record<string, Handler> = {
    "ullage.focus": () => chat.focus(),
    "ullage.compact": async () => notice.announce((await session.request("ullage/session/compact", {})).compactionId),
    "ullage.previewCompaction": () => chat.show({ kind: "preview" }),
    "ullage.postponeCompaction": (until) => session.request("ullage/session/postponeCompaction", { until: postponeFor(until) }),
    "ullage.undoCompaction": () => undoOrRedo(session, "undo"),
    "ullage.redoCompaction": () => undoOrRedo(session, "redo"),
    "ullage.showTimeline": () => chat.show({ kind: "timeline" }),
    "ullage.pinFile": (clicked, chosen) => pinFiles(session, clicked, chosen),
    "ullage.excludeFile": (clicked, chosen) => excludeFiles(session, clicked, chosen),
    "ullage.newSession": async () => {
      await session.startNew();
      await chat.focus();
    },
    "ullage.openSession": (id) => (typeof id === "string" ? session.open(id) : pickSession(connection, session, chat)),
    "ullage.forkSession": (itemId) => forkSession(session, chat, undefined, typeof itemId === "string" ? itemId : undefined),
    "ullage.attachEditor": () => attachEditor(chat),
    "ullage.searchSessions": (words) => searchSessions(connection, session, chat, typeof words === "string" ? words : ""),
    "ullage.importSessions": () => importSessions(connection, session, chat),
    "ullage.allow": () => chat.answerApproval(true),
    "ullage.refuse": () => chat.answerApproval(false),
    "ullage.nextApproval": () => chat.showNextApproval(),
    "ullage.showAllowed": () => showAllowed(connection),
    "ullage.stop": () => session.request("ullage/session/cancel", {}),
    "ullage.selectModel": () => pickModel(connection, session),
    "ullage.selectEffort": () => pickEffort(session),
    "ullage.setUpModel": () => setUpModel({ connection, session, apiKey }),
    "ullage.takeTour": () => takeTour(session, chat),
    "ullage.setApiKey": () => setUpKey({ connection, session, apiKey }),
    "ullage.clearApiKey": () => apiKey.clear(),
    "ullage.applyProposed": () => proposed.apply(),
    "ullage.discardProposed": () => proposed.discard(),
    "ullage.openSettings": () => openSettings(),
    "ullage.restartServer": () => connection.restart(),
    "ullage.showLogs": () => log.show(),
  };
  const registered = Object.entries(handlers).map(([id, handler]) =>
    vscode.commands.registerCommand(id, (...given: unknown[]) => report(() => handler(...given))),
  );
  return vscode.Disposable.from(...registered);
}

/** What a link of the gauge's tooltip asks for; the turn where nothing is named, as from the palette. */
function postponeFor(until: unknown): Postpone {
  return until === "session" || until === "none" ? until : "turn";
}

/** Where a window is a remote one, settings of the scope "machine", such as addresses, are set on the remote's page alone. */
async function openSettings(): Promise<void> {
  const page = vscode.env.remoteName === undefined ? "workbench.action.openSettings" : "workbench.action.openRemoteSettings";
  await vscode.commands.executeCommand(page, { query: "@ext:ullage.ullage" });
}

/** Refusals of the server are sentences for the user. */
async function report(handler: Handler): Promise<void> {
  try {
    await handler();
  } catch (error) {
    void warn(error instanceof Error ? error.message : String(error));
  }
}
