/**
 * Approvals and questions of the agent in VS Code itself. Where nobody sees the panel, a notification asks what the panel asks; who looks at the
 * panel is not asked twice.
 */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { t } from "../l10n";
import { tell, tellError, warn } from "../notify";
import type { AskFor, ToolCallItem } from "../protocol";
import type { ActiveSession } from "./activeSession";
import { agentsQuestionOf, isQuestion, questionOf, Reminders } from "./approvals";
import { wantedSigns } from "./attentionSigns";

const ALLOW = t("Allow Once");
const REFUSE = t("Refuse");
const SHOW = t("Show");
const OPEN = t("Open Change");

/** Asks about each question once, as soon as it waits and nobody looks at the panel. */
export function bindApprovals(session: ActiveSession, chat: ChatView): vscode.Disposable {
  const reminders = new Reminders();
  const refresh = () => {
    for (const item of reminders.toAsk(session.current?.waiting ?? [], chat.isLookedAt || !wantedSigns().approval)) {
      void (isQuestion(item) ? askForAgent(item, session, chat) : ask(item, session, chat));
    }
  };
  return vscode.Disposable.from(session.onDidChange(refresh), chat.onDidChangeVisibility(refresh));
}

async function ask(approval: ToolCallItem, session: ActiveSession, chat: ChatView): Promise<void> {
  const sessionId = session.current?.sessionId;
  const { text, whole } = questionOf(approval);
  // The first is the one that Enter takes, and stands out: looking decides nothing.
  const isEdit = approval.asked?.proposed != null;
  const choice = await warn(text, SHOW, ...(isEdit ? [OPEN] : []), ...(whole ? [ALLOW] : []), REFUSE);
  if (choice === undefined || sessionId === undefined) {
    return;
  }
  if (choice === OPEN) {
    await vscode.commands.executeCommand("ullage.openProposedEdit", approval.id);
    return;
  }
  if (choice === SHOW) {
    await chat.show({ kind: "item", sessionId, itemId: approval.id });
    return;
  }
  if (!session.current?.approvals.some(({ permissionId }) => permissionId === approval.permissionId)) {
    void tell(t("This was answered already."));
    return;
  }
  const kind = choice === ALLOW ? "allow_once" : "reject_once";
  const optionId = approval.permission?.find((option) => option.kind === kind)?.optionId ?? kind;
  await session
    .request("ullage/permission/respond", { toolCallId: approval.id, permissionId: approval.permissionId ?? "", optionId })
    .catch((error: Error) => tellError(error.message));
}

/** Asks for the agent. A click on an option is the answer; whoever wants to say more opens the panel. */
async function askForAgent(item: ToolCallItem, session: ActiveSession, chat: ChatView): Promise<void> {
  const sessionId = session.current?.sessionId;
  const { text, options } = agentsQuestionOf(item);
  const choice = await tell(text, SHOW, ...options.map(({ label }) => label));
  if (choice === undefined || sessionId === undefined) {
    return;
  }
  const option = options.find(({ label }) => label === choice);
  if (option === undefined) {
    await chat.show({ kind: "item", sessionId, itemId: item.id });
    return;
  }
  if (!session.current?.waiting.some(({ questionId }) => questionId != null && questionId === item.questionId)) {
    void tell(t("This was answered already."));
    return;
  }
  await session
    .request("ullage/question/respond", {
      toolCallId: item.id,
      questionId: item.questionId ?? "",
      answers: [{ optionIds: [option.optionId] }],
    })
    .catch((error: Error) => tellError(error.message));
}

/** The way of asking, for this machine: a workspace cannot choose it. */
export async function setAskFor(chosen: unknown): Promise<void> {
  const ways: readonly AskFor[] = ["everything", "notHarmless", "outsideSandbox"];
  const way = ways.find((each) => each === chosen);
  if (way !== undefined) {
    await vscode.workspace.getConfiguration("ullage").update("permissions.ask", way, vscode.ConfigurationTarget.Global);
  }
}
