/** Which file a path means that a model or a page named: one in known folders, or none. */

import * as vscode from "vscode";
import { isAbsolute, relative, resolve, sep } from "node:path";

/** Where a path may lead: one that is relative is so to `top`, and all have to lie in one of the folders `within`. */
export interface Place {
  top: string;
  within: string[];
}

/** Every folder of the workspace, and what lies in it. */
export function inWorkspace(): Place[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => ({ top: uri.fsPath, within: [uri.fsPath] }));
}

/** The file there; undefined where there is none, or the path leads elsewhere. */
export async function locate(path: string, places: readonly Place[]): Promise<vscode.Uri | undefined> {
  for (const { top, within } of places) {
    const candidate = resolve(top, path);
    if (!within.some((folder) => isInside(candidate, folder))) {
      continue;
    }
    const uri = vscode.Uri.file(candidate);
    const stat = await Promise.resolve(vscode.workspace.fs.stat(uri)).catch(() => undefined);
    if (stat !== undefined && (stat.type & vscode.FileType.File) !== 0) {
      return uri;
    }
  }
  return undefined;
}

/** Whether a path lies in a folder, by their names alone. */
export function isInside(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}
