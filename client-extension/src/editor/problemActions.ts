/** *Fix with Ullage*, *Explain with Ullage* and *Add to Ullage* where an editor shows a problem. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { t } from "../l10n";
import type { ActiveSession } from "../session/activeSession";
import { askAbout, attachmentsOf, type ReportedProblem, type Wish } from "./words";

const ASK = "ullage.askAboutProblems";
const ADD = "ullage.addProblems";

/** Offers all three for the problems in the lines at hand. */
export function bindProblemActions(session: ActiveSession, chat: ChatView): vscode.Disposable {
  const provider: vscode.CodeActionProvider = {
    provideCodeActions: ({ uri }, _range, { diagnostics }) =>
      session.current === undefined || diagnostics.length === 0
        ? []
        : [
            action(t("Fix with Ullage"), uri, diagnostics, ASK, "fix"),
            action(t("Explain with Ullage"), uri, diagnostics, ASK, "explain"),
            action(t("Add to Ullage"), uri, diagnostics, ADD),
          ],
  };
  return vscode.Disposable.from(
    vscode.languages.registerCodeActionsProvider({ scheme: "file" }, provider, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    vscode.commands.registerCommand(ASK, (wish: Wish, problems: readonly ReportedProblem[]) => ask(session, chat, wish, problems)),
    vscode.commands.registerCommand(ADD, (problems: readonly ReportedProblem[]) =>
      chat.show({ kind: "prompt", prompt: { text: "", attachments: attachmentsOf(problems) } }),
    ),
  );
}

/** An action whose command gets those arguments, and the problems. */
function action(
  title: string,
  uri: vscode.Uri,
  diagnostics: readonly vscode.Diagnostic[],
  command: string,
  ...wish: readonly Wish[]
): vscode.CodeAction {
  const made = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  made.diagnostics = [...diagnostics];
  made.command = { command, title, arguments: [...wish, diagnostics.map((each) => reported(uri, each))] };
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
