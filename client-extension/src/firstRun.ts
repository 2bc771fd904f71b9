/** Shows the chat once after the extension was installed: a panel in the secondary side bar is easily not found. */

import * as vscode from "vscode";
import { ChatView } from "./chatView";

const SHOWN = "ullage.chatShown";

/** Reveals the chat where it was never revealed before. The editor keeps the focus. */
export async function revealChatOnce(memory: vscode.Memento): Promise<void> {
  if (memory.get<boolean>(SHOWN) !== true) {
    await memory.update(SHOWN, true);
    await vscode.commands.executeCommand(`${ChatView.id}.focus`, { preserveFocus: true });
  }
}
