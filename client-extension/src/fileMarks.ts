/** Pins files, which a compaction then keeps whole and reads again, and excludes them. To take either back is the panel's. */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import { nameOfFile } from "./nameOfFile";
import { labelText } from "./shownText";

/**
 * Pins the files that were chosen in the explorer, else the one in the active editor.
 *
 * @throws Error with a message for the user.
 */
export async function pinFiles(session: ActiveSession, clicked: unknown, chosen: unknown): Promise<void> {
  const names = filesMeant(clicked, chosen, "pin");
  for (const path of names) {
    await session.request("ullage/session/pin", { path, pinned: true });
  }
  vscode.window.setStatusBarMessage(`$(pinned) Pinned ${labelText(names.join(", "))}: no compaction touches it`, 5_000);
}

/**
 * Takes the texts of the same out of the conversation. What the model wrote into them stays in its calls, and it may read them anew.
 *
 * @throws Error with a message for the user.
 */
export async function excludeFiles(session: ActiveSession, clicked: unknown, chosen: unknown): Promise<void> {
  const names = filesMeant(clicked, chosen, "exclude");
  for (const path of names) {
    await session.request("ullage/session/exclude", { path });
  }
  vscode.window.setStatusBarMessage(`$(eye-closed) Excluded ${labelText(names.join(", "))}, except what the model wrote itself`, 5_000);
}

function filesMeant(clicked: unknown, chosen: unknown, verb: "pin" | "exclude"): string[] {
  const uris = Array.isArray(chosen) && chosen.length > 0 ? chosen : [clicked ?? vscode.window.activeTextEditor?.document.uri];
  const files = uris.filter((uri): uri is vscode.Uri => uri instanceof vscode.Uri && uri.scheme === "file");
  if (files.length === 0) {
    throw new Error(`Open a file of this workspace to ${verb} it`);
  }
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const names = files.map(({ fsPath }) => nameOfFile(fsPath, folders)).filter((name) => name !== undefined);
  if (names.length < files.length) {
    throw new Error(`Only files of this workspace can be ${verb === "pin" ? "pinned" : "excluded"}`);
  }
  return names;
}
