/** Wires the parts together. What they do is in their own files. */

import * as vscode from "vscode";
import { ActiveSession } from "./activeSession";
import { bindApprovals } from "./approvalNotice";
import { ApiKey } from "./apiKey";
import { ChatView } from "./chatView";
import { ServerConnection } from "./client";
import { registerCommands } from "./commands";
import { CompactionNotice } from "./compactionNotice";
import { bindContextKeys } from "./contextKeys";
import { ProposedChanges } from "./proposedChanges";
import { revealChatOnce } from "./firstRun";
import { bindGauge } from "./gaugeBinding";
import { Launch } from "./launch";
import { ServerGone } from "./serverGone";
import { warn } from "./notify";
import { sentence } from "./shownText";

let connection: ServerConnection | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const { subscriptions } = context;
  const log = vscode.window.createOutputChannel("Ullage", { log: true });
  const apiKey = new ApiKey(context.secrets, subscriptions);
  connection = new ServerConnection(new Launch(context, apiKey, log), log);
  const session = new ActiveSession(connection, context.workspaceState);
  const proposed = new ProposedChanges();
  const chat = new ChatView(context.extensionUri, connection, session, proposed, log, subscriptions);
  connection.warnings.isPanelVisible = () => chat.isVisible;
  const notice = new CompactionNotice(session, subscriptions);
  subscriptions.push(
    log,
    connection,
    session,
    proposed,
    vscode.window.registerWebviewViewProvider(ChatView.id, chat),
    bindGauge(connection, session),
    bindContextKeys(connection, session),
    bindApprovals(session, chat),
    registerCommands({ connection, session, chat, apiKey, notice, proposed, log }),
    ...followChanges(connection, session, apiKey, log),
  );
  void connection.start();
  void revealChatOnce(context.globalState);
}

/** The language client's own shutdown is awaited here: VS Code gives `deactivate` a few seconds. */
export async function deactivate(): Promise<void> {
  await connection?.stop();
}

/** What makes the server start again or look again. */
function followChanges(
  server: ServerConnection,
  session: ActiveSession,
  apiKey: ApiKey,
  log: vscode.LogOutputChannel,
): vscode.Disposable[] {
  return [
    server.onDidChangeStatus((status) => {
      if (status.state === "running") {
        void openSession(server, session, log);
      }
    }),
    apiKey.onDidChange(() => void server.restart()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("ullage.server") || event.affectsConfiguration("ullage.store")) {
        void server.restart();
      } else if (event.affectsConfiguration("ullage")) {
        void server.settingsChanged();
      }
    }),
  ];
}

async function openSession(server: ServerConnection, session: ActiveSession, log: vscode.LogOutputChannel): Promise<void> {
  try {
    const passedOver = await session.reopen();
    if (passedOver !== undefined) {
      log.warn(`Session: ${passedOver}`);
      void warn(`${sentence(passedOver)} A new session was started.`);
    }
  } catch (error) {
    log.error(`Session: ${String(error)}`);
    if (error instanceof ServerGone) {
      return; // the session is opened when the server is back; one that runs by now must not be ended for it
    }
    await server.fail(`Ullage could not open a session: ${error instanceof Error ? error.message : String(error)}`);
  }
}
