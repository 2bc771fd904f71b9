/** Answers `ullage/editor/save`: a document that the agent edited and that had no unsaved changes before is saved. */

import * as vscode from "vscode";
import type { ServerRequests } from "./protocol";

type Params = ServerRequests["ullage/editor/save"][0];
type Result = ServerRequests["ullage/editor/save"][1];

/** Saves an open document, formatters and all, as the user would. */
export async function answerSave({ uri }: Params): Promise<Result> {
  const wanted = vscode.Uri.parse(uri).toString();
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === wanted);
  return { saved: document !== undefined && (await document.save()) };
}
