/** Edits that the server makes in open documents. */

import * as vscode from "vscode";
import { CancellationToken, ResponseError, TextDocumentEdit } from "vscode-languageclient/node";
import type { ApplyWorkspaceEditParams, WorkspaceMiddleware } from "vscode-languageclient/node";

/**
 * Saves documents that an edit changed and that were saved before it: what the agent runs next reads the disk. A document with changes of
 * the user stays as it is, for them to save.
 */
export const applyAndSave: NonNullable<WorkspaceMiddleware["handleApplyEdit"]> = async (params, next) => {
  const saved = documentsOf(params).filter((document) => !document.isDirty);
  const result = await next(params, CancellationToken.None);
  if (!(result instanceof ResponseError) && result.applied) {
    await Promise.all(saved.map((document) => document.save()));
  }
  return result;
};

function documentsOf({ edit }: ApplyWorkspaceEditParams): vscode.TextDocument[] {
  const changed = edit.documentChanges?.filter((change) => TextDocumentEdit.is(change)).map((change) => change.textDocument.uri);
  const uris = new Set([...(changed ?? []), ...Object.keys(edit.changes ?? {})].map((uri) => vscode.Uri.parse(uri).toString()));
  return vscode.workspace.textDocuments.filter((document) => uris.has(document.uri.toString()));
}
