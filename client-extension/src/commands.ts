/** What each command does, or where that is done. Every one has a defined answer when the server is down: a message that says so. */

import * as vscode from "vscode";
import type { ChatView } from "./chatView";
import type { ProposedChanges } from "./files/applyCode";
import { addTerminalSelection, addToChat } from "./editor/adding";
import type { CommitMessages } from "./editor/commitMessage";
import { nameOfFile } from "./files/places";
import { t } from "./l10n";
import type { ApiKey } from "./model/apiKey";
import { setUpKey, setUpModel } from "./model/connect";
import { pickEffort, pickModel } from "./model/picker";
import type { McpServers } from "./mcp/servers";
import { tell, warn } from "./notify";
import type { Postpone } from "./protocol";
import type { ReviewParts } from "./review/commands";
import { editPrompt } from "./review/goingBack";
import type { ServerConnection } from "./server/connection";
import type { Launch } from "./server/launch";
import { addTeamPackages } from "./server/offerPackages";
import type { ActiveSession } from "./session/activeSession";
import { setAskFor } from "./session/approvalPrompts";
import type { ProposedEdits } from "./session/proposedEdits";
import type { BackgroundCommands } from "./session/running";
import { type CompactionNotice, undoOrRedo } from "./session/indicators";
import { changeSession, exportSession, forkSession, importSessions, pickMode, pickSession, searchSessions } from "./session/pickers";
import { newSessionInWorktree, showWorktree } from "./session/worktrees";
import { labelText } from "./visible";

interface CommandParts {
  connection: ServerConnection;
  launch: Launch;
  session: ActiveSession;
  chat: ChatView;
  apiKey: ApiKey;
  notice: CompactionNotice;
  proposed: ProposedChanges;
  edits: ProposedEdits;
  review: ReviewParts;
  commitMessages: CommitMessages;
  servers: McpServers;
  background: BackgroundCommands;
  log: vscode.LogOutputChannel;
}

/** Gets what the place gives that the command was chosen from: in the explorer, files. */
type Handler = (...given: unknown[]) => Promise<unknown> | void;

/** Registers all commands of the manifest. */
export function registerCommands(parts: CommandParts): vscode.Disposable {
  const { connection, launch, session, chat, apiKey, notice, proposed, edits, review, commitMessages, servers, background, log } = parts;
  const restart = async () => ((await background.mayEnd()) ? connection.restart() : undefined);
  const handlers: Record<string, Handler> = {
    "ullage.focus": () => chat.focus(),
    "ullage.compact": async () => notice.announce((await session.request("ullage/session/compact", {})).compactionId),
    "ullage.previewCompaction": () => chat.show({ kind: "preview" }),
    "ullage.postponeCompaction": (until) => session.request("ullage/session/postponeCompaction", { until: postponeFor(until) }),
    "ullage.undoCompaction": () => undoOrRedo(session, "undo"),
    "ullage.redoCompaction": () => undoOrRedo(session, "redo"),
    "ullage.showTimeline": () => chat.show({ kind: "timeline" }),
    "ullage.showRunning": () => background.show(),
    "ullage.showCommandOutput": (id) => background.openOutput(id),
    "ullage.openCommandPort": (which) => background.openPort(which),
    "ullage.showContext": () => chat.show({ kind: "context" }),
    "ullage.pinFile": (clicked, chosen) => pinFiles(session, clicked, chosen),
    "ullage.excludeFile": (clicked, chosen) => excludeFiles(session, clicked, chosen),
    "ullage.newSession": async () => {
      await session.startNew();
      await chat.focus();
      return session.current?.sessionId; // for whoever runs it from an extension or a task
    },
    "ullage.openSession": (id) => (typeof id === "string" ? session.open(id) : pickSession(connection, session, chat)),
    "ullage.newSessionInWorktree": () => newSessionInWorktree(session, chat),
    "ullage.worktree": () => showWorktree(session),
    "ullage.showSessions": () => chat.show({ kind: "sessions" }),
    "ullage.renameSession": (id) => changeSession("rename", connection, session, id),
    "ullage.deleteSession": (id) => changeSession("delete", connection, session, id),
    "ullage.forkListed": (id) => forkSession(session, chat, typeof id === "string" ? id : undefined),
    "ullage.editPrompt": (prompt) => editPrompt(session, chat, prompt),
    "ullage.forkSession": (itemId) => forkSession(session, chat, undefined, typeof itemId === "string" ? itemId : undefined),
    "ullage.attachEditor": () => addToChat(chat),
    "ullage.addToChat": (...given) => addToChat(chat, ...given),
    "ullage.addTerminalSelection": () => addTerminalSelection(chat),
    "ullage.writeCommitMessage": (sourceControl) => commitMessages.write(sourceControl),
    "ullage.stopCommitMessage": () => commitMessages.stop(),
    "ullage.searchSessions": (words) => searchSessions(connection, session, chat, typeof words === "string" ? words : ""),
    "ullage.exportSession": () => exportSession(session),
    "ullage.comeOver": () => chat.show({ kind: "others" }),
    "ullage.chooseOther": () => chooseOther(chat),
    "ullage.goOnWithOther": (id) => goOnWithOther(session, chat, id),
    "ullage.importSessions": () => importSessions(connection, session, chat),
    "ullage.allow": () => chat.answerApproval(true),
    "ullage.refuse": () => chat.answerApproval(false),
    "ullage.nextApproval": () => chat.showNextApproval(),
    "ullage.mcpServers": (name) => servers.show(typeof name === "string" ? name : ""),
    "ullage.showPermissions": () => chat.show({ kind: "permissions" }),
    "ullage.showInstructions": () => chat.show({ kind: "instructions" }),
    "ullage.askFor": (way) => setAskFor(way),
    "ullage.openProposedEdit": (callId) => edits.open(callId),
    "ullage.acceptProposedEdit": () => edits.answer("allow_once"),
    "ullage.refuseProposedEdit": () => edits.answer("reject_once"),
    "ullage.stop": () => session.request("ullage/session/cancel", {}),
    "ullage.selectModel": () => pickModel(connection, session),
    "ullage.selectEffort": () => pickEffort(session),
    "ullage.selectMode": () => pickMode(session),
    "ullage.setUpModel": () => setUpModel({ connection, session, apiKey, launch, background }),
    "ullage.takeTour": () => takeTour(session, chat),
    "ullage.setApiKey": () => setUpKey({ connection, session, apiKey, launch, background }),
    "ullage.clearApiKey": () => apiKey.clear(),
    "ullage.applyProposed": () => proposed.apply(),
    "ullage.discardProposed": () => proposed.discard(),
    ...review.handlers,
    "ullage.openSettings": () => openSettings(),
    "ullage.restartServer": restart,
    "ullage.addTeamPackages": () =>
      addTeamPackages(launch, () =>
        background.agreedTo(
          () => connection.restart(),
          t("The library is there. The server uses it from its next start on. The commands in the background go on."),
        ),
      ),
    "ullage.repairEnvironment": () => background.agreedTo(() => connection.restartAfter(() => launch.removeEnvironment())),
    "ullage.removeEnvironment": () =>
      background.agreedTo(
        () =>
          connection.fail(t("The server's Python environment was removed. It is made again when the server starts."), () =>
            launch.forgetEnvironment(),
          ),
        undefined,
        { title: t("Stop the server, and remove its Python environment?"), yes: t("Remove") },
      ),
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

/** Gives what it gives. Refusals of the server are sentences for the user. */
async function report(handler: Handler): Promise<unknown> {
  try {
    return await handler();
  } catch (error) {
    void warn(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/**
 * Pins the files that were chosen in the explorer, else the one in the active editor.
 *
 * @throws Error with a message for the user.
 */
async function pinFiles(session: ActiveSession, clicked: unknown, chosen: unknown): Promise<void> {
  const names = filesMeant(clicked, chosen, "pin");
  for (const path of names) {
    await session.request("ullage/session/pin", { path, pinned: true });
  }
  vscode.window.setStatusBarMessage(
    `$(pinned) ${t("Pinned {files}: no compaction touches it", { files: labelText(names.join(", ")) })}`,
    5_000,
  );
}

/**
 * Takes the texts of the same out of the conversation. What the model wrote into them stays in its calls, and it may read them anew.
 *
 * @throws Error with a message for the user.
 */
async function excludeFiles(session: ActiveSession, clicked: unknown, chosen: unknown): Promise<void> {
  const names = filesMeant(clicked, chosen, "exclude");
  for (const path of names) {
    await session.request("ullage/session/exclude", { path });
  }
  vscode.window.setStatusBarMessage(
    `$(eye-closed) ${t("Excluded {files}, except what the model wrote itself", { files: labelText(names.join(", ")) })}`,
    5_000,
  );
}

function filesMeant(clicked: unknown, chosen: unknown, verb: "pin" | "exclude"): string[] {
  const uris = Array.isArray(chosen) && chosen.length > 0 ? chosen : [clicked ?? vscode.window.activeTextEditor?.document.uri];
  const files = uris.filter((uri): uri is vscode.Uri => uri instanceof vscode.Uri && uri.scheme === "file");
  if (files.length === 0) {
    throw new Error(verb === "pin" ? t("Open a file of this workspace to pin it") : t("Open a file of this workspace to exclude it"));
  }
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const names = files.map(({ fsPath }) => nameOfFile(fsPath, folders)).filter((name) => name !== undefined);
  if (names.length < files.length) {
    throw new Error(verb === "pin" ? t("Only files of this workspace can be pinned") : t("Only files of this workspace can be excluded"));
  }
  return names;
}

/** Lets the user choose a file that holds a session of another program, wherever it lies, and shows it. */
async function chooseOther(chat: ChatView): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: t("A session of another program"),
    openLabel: t("Show it"),
    canSelectMany: false,
  });
  const file = chosen?.[0];
  if (file !== undefined) {
    await chat.show({ kind: "others", file: file.fsPath });
  }
}

/** Opens a session of this workspace with all that was said in that one. @throws Error where the server refuses. */
async function goOnWithOther(session: ActiveSession, chat: ChatView, otherId: unknown): Promise<void> {
  if (typeof otherId === "string") {
    await session.goOnWithOther(otherId);
    await chat.focus();
  } else {
    await chat.show({ kind: "others" });
  }
}

/** What the demo knows the tour by, in every language. */
const TOUR = "Take the tour"; // oxlint-disable-line ullage/untranslated -- the practice model reads it

/** Shows the panel and begins the tour; where a real model answers, it says why there is none. */
async function takeTour(session: ActiveSession, chat: ChatView): Promise<void> {
  await chat.focus();
  if (session.current?.model.practice === false) {
    void tell(t("The tour is played by the demo, and a model is connected here. Ask it anything."));
    return;
  }
  await session.request("ullage/session/prompt", { text: TOUR, attachments: [], delivery: "queue" });
}
