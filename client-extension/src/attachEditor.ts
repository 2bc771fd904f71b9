/** Attaching what the active editor shows to the prompt that is being written: a file, or a new document that was never saved. */

import * as vscode from "vscode";
import type { ChatView } from "./chatView";
import { isAttachable, nameInUri } from "./documentName";
import { warn } from "./notify";

/** Attaches it and shows the panel; says why where it cannot be. */
export async function attachEditor(chat: ChatView): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri.toString();
  if (uri === undefined) {
    void warn("No editor is active: open the file or the new document that is to be attached");
    return;
  }
  if (!isAttachable(uri)) {
    void warn(`${nameInUri(uri)} is no file, so it cannot be attached`);
    return;
  }
  await chat.show({ kind: "prompt", prompt: { text: "", attachments: [{ kind: "file", uri }] } });
}
