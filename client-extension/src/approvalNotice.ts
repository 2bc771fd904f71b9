/** Where nobody sees the panel, a notification asks what the panel asks. Who looks at the panel is not asked twice. */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import { approvalsInWords, questionOf } from "./approvals";
import type { ChatView } from "./chatView";
import { tell, tellError, warn } from "./notify";
import type { ToolCallItem } from "./protocol";

const ALLOW = "Allow Once";
const REFUSE = "Refuse";
const SHOW = "Show";

/** Asks about each question once, as soon as it waits and the panel is out of sight; and counts them on the panel's badge. */
export function bindApprovals(session: ActiveSession, chat: ChatView): vscode.Disposable {
  const asked = new Set<string>();
  const refresh = () => {
    const approvals = session.current?.approvals ?? [];
    chat.setBadge(approvals.length === 0 ? undefined : { value: approvals.length, tooltip: approvalsInWords(approvals.length) });
    for (const approval of chat.isVisible ? [] : approvals) {
      const question = approval.permissionId ?? approval.id;
      if (!asked.has(question)) {
        asked.add(question);
        void ask(approval, session, chat);
      }
    }
  };
  return vscode.Disposable.from(session.onDidChange(refresh), chat.onDidChangeVisibility(refresh));
}

async function ask(approval: ToolCallItem, session: ActiveSession, chat: ChatView): Promise<void> {
  const sessionId = session.current?.sessionId;
  const { text, whole } = questionOf(approval);
  // The first is the one that Enter takes, and stands out: looking decides nothing.
  const choice = await warn(text, SHOW, ...(whole ? [ALLOW] : []), REFUSE);
  if (choice === undefined || sessionId === undefined) {
    return;
  }
  if (choice === SHOW) {
    await chat.show({ kind: "item", sessionId, itemId: approval.id });
    return;
  }
  if (!session.current?.approvals.some(({ permissionId }) => permissionId === approval.permissionId)) {
    void tell("This was answered already.");
    return;
  }
  const kind = choice === ALLOW ? "allow_once" : "reject_once";
  const optionId = approval.permission?.find((option) => option.kind === kind)?.optionId ?? kind;
  await session
    .request("ullage/permission/respond", { toolCallId: approval.id, permissionId: approval.permissionId ?? "", optionId })
    .catch((error: Error) => tellError(error.message));
}
