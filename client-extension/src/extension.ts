/** Wires the parts together, and shows the chat once after the extension was installed. What the parts do is in their own files. */

import "./editorLanguage"; // before all others: they have texts
import * as vscode from "vscode";
import { ChatView } from "./chatView";
import { registerCommands } from "./commands";
import { CommitMessages } from "./editor/commitMessage";
import { bindProblemActions } from "./editor/problemActions";
import { ProposedChanges } from "./files/applyCode";
import { t } from "./l10n";
import { McpServers } from "./mcp/servers";
import { ApiKey } from "./model/apiKey";
import { bindUnknownModel } from "./model/picker";
import { warn } from "./notify";
import { ServerGone } from "./server/answers";
import { ServerConnection } from "./server/connection";
import { Launch } from "./server/launch";
import { startReview } from "./review/commands";
import { ActiveSession } from "./session/activeSession";
import { bindApprovals } from "./session/approvalPrompts";
import { bindAttention, wantedSigns } from "./session/attentionSigns";
import { bindContextKeys, bindGauge, CompactionNotice } from "./session/indicators";
import { PlanDocuments } from "./session/planDocuments";
import { ProposedEdits } from "./session/proposedEdits";
import { BackgroundCommands } from "./session/running";
import { sentence } from "./visible";

let connection: ServerConnection | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const { subscriptions } = context;
  const log = vscode.window.createOutputChannel("Ullage", { log: true });
  const apiKey = new ApiKey(context.secrets, subscriptions);
  const launch = new Launch(context, apiKey, log);
  connection = new ServerConnection(launch, log);
  const session = new ActiveSession(connection, context.workspaceState);
  const proposed = new ProposedChanges();
  const plans = new PlanDocuments(session);
  const edits = new ProposedEdits(session);
  const chat = new ChatView(context.extensionUri, connection, session, proposed, plans, log, subscriptions);
  connection.warnings.isPanelVisible = () => chat.isVisible;
  const commitMessages = new CommitMessages(session);
  const review = startReview(session, chat);
  const servers = new McpServers(connection, context.workspaceState);
  const notice = new CompactionNotice(session, chat, subscriptions);
  const background = new BackgroundCommands(connection, session, chat);
  subscriptions.push(
    log,
    connection,
    session,
    proposed,
    edits,
    review,
    plans,
    chat.register(wantedSigns().sound), // only a page can play it
    bindGauge(connection, session),
    bindContextKeys(connection, session),
    bindApprovals(session, chat),
    bindAttention(session, chat),
    commitMessages,
    servers,
    background,
    bindProblemActions(session, chat),
    bindUnknownModel(connection, session),
    registerCommands({
      connection,
      launch,
      session,
      chat,
      apiKey,
      notice,
      proposed,
      edits,
      review,
      commitMessages,
      servers,
      background,
      log,
    }),
    ...followChanges(connection, session, apiKey, background, log),
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
  background: BackgroundCommands,
  log: vscode.LogOutputChannel,
): vscode.Disposable[] {
  /** Unless the user wants what runs in the background to go on: then the server is told what it can take without that, and the user what it cannot. */
  const restart = async (goesOn: string) => {
    const { lastAsked } = server;
    if (!(await background.mayEnd())) {
      await server.settingsChanged();
      if (goesOn !== "" && (await warn(goesOn, t("Restart"))) !== undefined) {
        await vscode.commands.executeCommand("ullage.restartServer");
      }
    } else if (!lastAsked.aborted) {
      await server.restart(); // else it was started or stopped meanwhile, as the user wanted it, with what has changed
    }
  };
  const asItWas = t("The server goes on as it was started, until it is restarted.");
  return [
    server.onDidChangeStatus((status) => {
      if (status.state === "running") {
        void openSession(server, session, log);
      }
    }),
    apiKey.onDidChange(() => void restart(t("The server goes on with the key that it was started with, until it is restarted."))),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void restart(asItWas)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("ullage.server")) {
        void restart(asItWas);
      } else if (event.affectsConfiguration("ullage.store")) {
        void restart(""); // the server says by itself what it cannot take
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
      void warn(t("{why} A new session was started.", { why: sentence(passedOver) }));
    }
  } catch (error) {
    log.error(`Session: ${String(error)}`);
    if (error instanceof ServerGone) {
      return; // the session is opened when the server is back; one that runs by now must not be ended for it
    }
    await server.fail(t("Ullage could not open a session: {error}", { error: error instanceof Error ? error.message : String(error) }));
  }
}

const WALKTHROUGH = "ullage.ullage#start";
const SHOWN = "ullage.chatShown";

/**
 * Reveals the chat where it was never revealed before: a panel in the secondary side bar is easily not found. Opens the walkthrough, too, unless
 * the user wants nothing to open by itself. The editor keeps the focus.
 */
async function revealChatOnce(memory: vscode.Memento): Promise<void> {
  if (memory.get<boolean>(SHOWN) !== true) {
    await memory.update(SHOWN, true);
    await vscode.commands.executeCommand(`${ChatView.id}.focus`, { preserveFocus: true });
    if (vscode.workspace.getConfiguration("workbench").get("startupEditor") !== "none") {
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH, false);
    }
  }
}
