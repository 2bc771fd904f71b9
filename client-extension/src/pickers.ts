/** The list of sessions, as a quick pick. */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import type { ChatView } from "./chatView";
import type { ServerConnection } from "./client";
import { forkSession } from "./forking";
import type { SessionSummary } from "./protocol";
import { confirm, tellError } from "./notify";
import { descriptionOf, titleOf } from "./sessionText";
import { labelText } from "./shownText";

const RENAME: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("edit"), tooltip: "Rename" };
const FORK: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("repo-forked"), tooltip: "Fork" };
const SEARCH: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("search"), tooltip: "Search in all sessions" };
const DELETE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("trash"), tooltip: "Delete" };

interface SessionPick extends vscode.QuickPickItem {
  summary: SessionSummary;
}

/** Lets the user open, fork, rename or delete a session. */
export async function pickSession(connection: ServerConnection, session: ActiveSession, chat: ChatView): Promise<void> {
  const pick = vscode.window.createQuickPick<SessionPick>();
  const refresh = async () => {
    const { sessions } = await connection.request("ullage/session/list", {});
    pick.items = sessions.map((summary) => toPick(summary, summary.sessionId === session.current?.sessionId));
    pick.busy = false;
  };
  pick.title = "Ullage: sessions";
  pick.placeholder = "Open a session";
  pick.matchOnDescription = true;
  pick.busy = true;
  pick.buttons = [SEARCH];
  pick.onDidTriggerButton(() => void vscode.commands.executeCommand("ullage.searchSessions"));
  pick.onDidAccept(() => {
    const chosen = pick.selectedItems[0];
    pick.hide();
    if (chosen !== undefined) {
      session.open(chosen.summary.sessionId).catch(showError);
    }
  });
  pick.onDidTriggerItemButton(async ({ button, item }) => {
    try {
      if (button === FORK) {
        pick.hide();
        return await forkSession(session, chat, item.summary.sessionId);
      }
      await (button === RENAME ? rename(connection, item.summary) : remove(connection, session, item.summary));
      // The question has taken the place of the list.
      await pickSession(connection, session, chat);
    } catch (error) {
      showError(error as Error);
    }
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
  await refresh().catch((error: Error) => {
    pick.hide();
    showError(error);
  });
}

function showError(error: Error): void {
  void tellError(error.message);
}

async function rename(connection: ServerConnection, summary: SessionSummary): Promise<void> {
  const title = await vscode.window.showInputBox({
    title: "Rename session",
    value: summary.title,
    validateInput: (value) => (value.trim() ? undefined : "A title is needed"),
  });
  if (title !== undefined) {
    await connection.request("ullage/session/rename", { sessionId: summary.sessionId, title: title.trim() });
  }
}

async function remove(connection: ServerConnection, session: ActiveSession, summary: SessionSummary): Promise<void> {
  if (!(await confirm(`Delete "${titleOf(summary)}"?`, "The conversation cannot be brought back.", "Delete"))) {
    return;
  }
  await connection.request("ullage/session/delete", { sessionId: summary.sessionId });
  if (session.current?.sessionId === summary.sessionId) {
    await session.open(undefined);
  }
}

function toPick(summary: SessionSummary, isActive: boolean): SessionPick {
  return {
    label: labelText(titleOf(summary)),
    description: descriptionOf(summary, isActive, Date.now() / 1000),
    buttons: summary.foreign ? [RENAME, DELETE] : [FORK, RENAME, DELETE],
    summary,
  };
}
