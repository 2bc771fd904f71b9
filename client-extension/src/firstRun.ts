/** Shows the chat and the walkthrough once after the extension was installed: a panel in the secondary side bar is easily not found. */

import * as vscode from "vscode";
import { ChatView } from "./chatView";

const WALKTHROUGH = "ullage.ullage#start";
const SHOWN = "ullage.chatShown";

/**
 * Reveals the chat where it was never revealed before, and opens the walkthrough, unless the user wants nothing to open by itself. The editor
 * keeps the focus.
 */
export async function revealChatOnce(memory: vscode.Memento): Promise<void> {
  if (memory.get<boolean>(SHOWN) !== true) {
    await memory.update(SHOWN, true);
    await vscode.commands.executeCommand(`${ChatView.id}.focus`, { preserveFocus: true });
    if (vscode.workspace.getConfiguration("workbench").get("startupEditor") !== "none") {
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH, false);
    }
  }
}
