/**
 * Approvals in VS Code itself. Where nobody sees the panel, a notification asks what the panel asks; who looks at the panel is not asked twice. What
 * is always allowed in this workspace is a list, from which it can be taken back.
 */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { t } from "../l10n";
import { confirm, tell, tellError, warn } from "../notify";
import type { Allowed, ToolCallItem } from "../protocol";
import type { ServerConnection } from "../server/connection";
import { labelText } from "../visible";
import type { ActiveSession } from "./activeSession";
import { groupsOf, questionOf, Reminders } from "./approvals";

const ALLOW = t("Allow Once");
const REFUSE = t("Refuse");
const SHOW = t("Show");

/** Asks about each question once, as soon as it waits and the panel is out of sight; and counts them on the panel's badge. */
export function bindApprovals(session: ActiveSession, chat: ChatView): vscode.Disposable {
  const reminders = new Reminders();
  const refresh = () => {
    const { badge, toAsk } = reminders.of(session.current?.approvals ?? [], chat.isVisible);
    chat.setBadge(badge);
    for (const approval of toAsk) {
      void ask(approval, session, chat);
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
    void tell(t("This was answered already."));
    return;
  }
  const kind = choice === ALLOW ? "allow_once" : "reject_once";
  const optionId = approval.permission?.find((option) => option.kind === kind)?.optionId ?? kind;
  await session
    .request("ullage/permission/respond", { toolCallId: approval.id, permissionId: approval.permissionId ?? "", optionId })
    .catch((error: Error) => tellError(error.message));
}

const FORGET: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("trash"), tooltip: t("Ask again") };
const FORGET_ALL: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("clear-all"), tooltip: t("Ask about everything again") };

interface AllowedPick extends vscode.QuickPickItem {
  allowed?: Allowed;
}

/** Shows the list; a row's button takes that one back, the button above takes back all. */
export async function showAllowed(connection: ServerConnection): Promise<void> {
  const pick = vscode.window.createQuickPick<AllowedPick>();
  pick.title = t("Ullage: always allowed in this workspace");
  pick.busy = true;
  const refresh = async () => {
    const { allowed } = await connection.request("ullage/permission/list", {});
    pick.placeholder =
      allowed.length === 0 ? t("Nothing is always allowed. Ullage asks each time.") : t("Choose one to be asked about it again");
    pick.items = groupsOf(allowed).flatMap(({ title, members }) => [
      { label: title, kind: vscode.QuickPickItemKind.Separator },
      ...members.map((each): AllowedPick => ({ label: labelText(each.name.replaceAll("`", "")), buttons: [FORGET], allowed: each })),
    ]);
    pick.buttons = allowed.length === 0 ? [] : [FORGET_ALL];
    pick.busy = false;
  };
  const forget = async ({ allowed }: AllowedPick) => {
    if (allowed !== undefined) {
      await connection.request("ullage/permission/forget", { action: allowed.action, pattern: allowed.pattern });
      await refresh();
    }
  };
  const failed = (error: Error) => {
    pick.hide();
    void tellError(error.message);
  };
  pick.onDidTriggerItemButton(({ item }) => void forget(item).catch(failed));
  pick.onDidAccept(() => {
    const chosen = pick.selectedItems[0];
    if (chosen !== undefined) {
      forget(chosen).catch(failed);
    }
  });
  pick.onDidTriggerButton(() => void forgetAll(connection).catch(failed));
  pick.onDidHide(() => pick.dispose());
  pick.show();
  await refresh().catch(failed);
}

async function forgetAll(connection: ServerConnection): Promise<void> {
  if (
    await confirm(t("Ask about everything again?"), t("Nothing is allowed in this workspace any more without a question."), t("Ask again"))
  ) {
    await connection.request("ullage/permission/forget", {});
  }
  await showAllowed(connection);
}
