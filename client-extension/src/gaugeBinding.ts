/** Puts what `gauge.ts` renders into a status bar item. */

import * as vscode from "vscode";
import { GAUGE_COMMANDS, render, type GaugeView } from "./gauge";
import type { ActiveSession } from "./activeSession";
import type { ServerConnection } from "./client";

/** Shows the gauge from now on, and keeps it true. */
export function bindGauge(connection: ServerConnection, session: ActiveSession): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("ullage.gauge", vscode.StatusBarAlignment.Right, 100);
  item.name = "Ullage context gauge";
  const refresh = () =>
    show(item, render(session.current?.gauge, session.current?.state ?? "idle", connection.status, session.current?.approvals.length));
  refresh();
  item.show();
  return vscode.Disposable.from(item, connection.onDidChangeStatus(refresh), session.onDidChange(refresh));
}

function show(item: vscode.StatusBarItem, view: GaugeView): void {
  item.text = view.text;
  item.tooltip = new vscode.MarkdownString(view.tooltip, true);
  item.tooltip.isTrusted = { enabledCommands: GAUGE_COMMANDS };
  item.backgroundColor = view.background && new vscode.ThemeColor(`statusBarItem.${view.background}Background`);
  item.accessibilityInformation = { label: view.ariaLabel, role: "button" };
  item.command = view.command;
}
