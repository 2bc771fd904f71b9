/** Putting code of an answer into a file: at the cursor, so that it can be undone there. */

import * as vscode from "vscode";
import { warn } from "./notify";

/** In the place of what is selected in the editor that was used last. */
export async function insertText(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (editor === undefined) {
    void warn("Open the file that the code belongs in, and put the cursor where it should go.");
    return;
  }
  await editor.edit((edit) => edit.replace(editor.selection, text));
  await vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn });
}
