/** *Fix with Ullage* and *Explain with Ullage* where an editor shows a problem. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { t } from "../l10n";
import type { ActiveSession } from "../session/activeSession";
import { askAbout, type ReportedProblem, type Wish } from "./words";

const ASK = "ullage.askAboutProblems";

/** Offers both for the problems in the lines at hand. */
export function bindProblemActions(session: ActiveSession, chat: ChatView): vscode.Disposable {
  const provider: vscode.CodeActionProvider = {
    provideCodeActions: ({ uri }, _range, { diagnostics }) =>
      session.current === undefined || diagnostics.length === 0
        ? []
        : [action("fix", uri, diagnostics), action("explain", uri, diagnostics)],
  };
  return vscode.Disposable.from(
    vscode.languages.registerCodeActionsProvider({ scheme: "file" }, provider, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    vscode.commands.registerCommand(ASK, (wish: Wish, problems: readonly ReportedProblem[]) => ask(session, chat, wish, problems)),
  );
}

function action(wish: Wish, uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction {
  const title = wish === "fix" ? t("Fix with Ullage") : t("Explain with Ullage");
  const made = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  made.diagnostics = [...diagnostics];
  made.command = { command: ASK, title, arguments: [wish, diagnostics.map((each) => reported(uri, each))] };
  return made;
}

function reported(uri: vscode.Uri, { range, message, source, code }: vscode.Diagnostic): ReportedProblem {
  const named = typeof code === "object" ? code.value : code;
  return {
    uri: uri.toString(),
    path: vscode.workspace.asRelativePath(uri),
    lines: { first: range.start.line + 1, last: range.end.line + 1 },
    message,
    source: [source, named].filter((part) => part !== undefined && part !== "").join(" "),
  };
}

/** The user chose it by its name: it is sent, and waits its turn where the agent is at work. */
async function ask(session: ActiveSession, chat: ChatView, wish: Wish, problems: readonly ReportedProblem[]): Promise<void> {
  await chat.focus();
  await session.request("ullage/session/prompt", { ...askAbout(wish, problems), delivery: "queue" });
}
