/** Pins files: what a compaction keeps whole, and reads again. Unpinning is the panel's. */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import { nameOfFile } from "./nameOfFile";

/**
 * Pins the files that were chosen in the explorer, else the one in the active editor.
 *
 * @throws Error with a message for the user.
 */
export async function pinFiles(session: ActiveSession, clicked: unknown, chosen: unknown): Promise<void> {
  const uris = Array.isArray(chosen) && chosen.length > 0 ? chosen : [clicked ?? vscode.window.activeTextEditor?.document.uri];
  const files = uris.filter((uri): uri is vscode.Uri => uri instanceof vscode.Uri && uri.scheme === "file");
  if (files.length === 0) {
    throw new Error("Open a file of this workspace to pin it");
  }
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const names = files.map(({ fsPath }) => nameOfFile(fsPath, folders));
  if (names.includes(undefined)) {
    throw new Error("Only files of this workspace can be pinned");
  }
  for (const path of names) {
    await session.request("ullage/session/pin", { path, pinned: true });
  }
  vscode.window.setStatusBarMessage(`$(pinned) Pinned ${names.join(", ")}: no compaction touches it`, 5_000);
}
