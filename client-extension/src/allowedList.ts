/** What the user always allows in this workspace, as a list from which it can be taken back. */

import * as vscode from "vscode";
import type { ServerConnection } from "./client";
import { confirm, tellError } from "./notify";
import type { Allowed } from "./protocol";
import { labelText } from "./shownText";
import { groupsOf } from "./allowedText";

const FORGET: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("trash"), tooltip: "Ask again" };
const FORGET_ALL: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("clear-all"), tooltip: "Ask about everything again" };

interface AllowedPick extends vscode.QuickPickItem {
  allowed?: Allowed;
}

/** Shows the list; a row's button takes that one back, the button above takes back all. */
export async function showAllowed(connection: ServerConnection): Promise<void> {
  const pick = vscode.window.createQuickPick<AllowedPick>();
  pick.title = "Ullage: always allowed in this workspace";
  pick.busy = true;
  const refresh = async () => {
    const { allowed } = await connection.request("ullage/permission/list", {});
    pick.placeholder = allowed.length === 0 ? "Nothing is always allowed. Ullage asks each time." : "Choose one to be asked about it again";
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
  if (await confirm("Ask about everything again?", "Nothing is allowed in this workspace any more without a question.", "Ask again")) {
    await connection.request("ullage/permission/forget", {});
  }
  await showAllowed(connection);
}
