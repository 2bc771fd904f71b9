/** The context keys that `when` clauses of the manifest read: `ullage.ready`, `ullage.sessionState`, and how many `ullage.approvals` wait. */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import type { ServerConnection } from "./client";

/** Keeps the keys true from now on. */
export function bindContextKeys(connection: ServerConnection, session: ActiveSession): vscode.Disposable {
  const refresh = () => {
    void vscode.commands.executeCommand(
      "setContext",
      "ullage.ready",
      connection.status.state === "running" && session.current !== undefined,
    );
    void vscode.commands.executeCommand("setContext", "ullage.sessionState", session.current?.state ?? "idle");
    void vscode.commands.executeCommand("setContext", "ullage.approvals", session.current?.approvals.length ?? 0);
  };
  refresh();
  return vscode.Disposable.from(connection.onDidChangeStatus(refresh), session.onDidChange(refresh));
}
