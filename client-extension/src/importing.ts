/**
 * Giving this folder sessions: those that it brings along in `.ullage`, to be read as somebody else's or, on the user's word, to be gone on
 * with; or those of a folder that was renamed or moved.
 */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import type { ChatView } from "./chatView";
import type { ServerConnection } from "./client";
import { confirm, tell } from "./notify";
import { pickSession } from "./pickers";
import { sentence } from "./shownText";
import { type Chosen, type Importable, choicesOf, counted, questionOf } from "./importChoices";

/** Asks which, imports, and shows the list of sessions. @throws Error where the server refuses. */
export async function importSessions(connection: ServerConnection, session: ActiveSession, chat: ChatView): Promise<void> {
  const importable = await connection.request("ullage/workspace/importable", {});
  const choices = choicesOf(importable);
  if (choices.length === 0) {
    void tell("There is nothing to import: .ullage of this folder has no sessions, and none are kept of folders that are gone.");
    return;
  }
  const choice = await vscode.window.showQuickPick(choices, { title: "Ullage: import sessions", matchOnDescription: true });
  if (choice === undefined || !(await isSure(choice.chosen, importable))) {
    return;
  }
  const { sessions, unreadable, failures } = await connection.request("ullage/workspace/import", choice.chosen);
  const left = [...failures, ...(unreadable > 0 ? [`${unreadable} entries could not be read`] : [])];
  const told = left.map((each) => ` ${sentence(each)}`).join("");
  void tell(`${counted(sessions, "new session was", "new sessions were")} imported.${told}`);
  await pickSession(connection, session, chat);
}

/** Nothing is asked about what is the user's own anyway. */
async function isSure({ mine, fromGone }: Chosen, { brought, tracked }: Importable): Promise<boolean> {
  if (fromGone !== undefined) {
    return true;
  }
  if (mine !== true) {
    const detail =
      "Whoever wrote the folder may have written them. You can read and search them. They cannot be continued, and nothing of them is sent to a model.";
    return confirm("Import the sessions in .ullage of this folder?", detail, "Import");
  }
  return confirm("Are all of these sessions yours, and yours alone?", questionOf(brought, tracked), "They are mine");
}
