/** Files of the workspace for the panel: offered after `@`, and opened from links. */

import * as vscode from "vscode";
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { FileSuggestion } from "../webview/messages";
import { rankFiles } from "./rankFiles";

const MOST_FILES = 20_000;
const MOST_SUGGESTIONS = 20;
const FRESH_MILLISECONDS = 10_000;
const IMAGE_OR_PDF = /\.(png|jpe?g|gif|webp|pdf)$/i;

/** Lists the workspace's files, and keeps the list for a few seconds while the user types. */
export class WorkspaceFiles {
  private listed: Promise<FileSuggestion[]> | undefined;
  private listedAt = 0;

  /** The best matches for what was typed after `@`; open editors first. */
  async find(query: string): Promise<FileSuggestion[]> {
    if (this.listed === undefined || Date.now() - this.listedAt > FRESH_MILLISECONDS) {
      this.listed = listFiles();
      this.listedAt = Date.now();
    }
    return rankFiles(query, await this.listed, MOST_SUGGESTIONS);
  }
}

async function listFiles(): Promise<FileSuggestion[]> {
  const open = new Set(vscode.workspace.textDocuments.map((document) => document.uri.toString()));
  const found = await vscode.workspace.findFiles("**/*", "**/{.git,node_modules,.venv,.ullage,__pycache__}/**", MOST_FILES);
  return found.map((uri) => ({ uri: uri.toString(), path: vscode.workspace.asRelativePath(uri), open: open.has(uri.toString()) }));
}

/** Shows a file in an editor. A path that leads out of the workspace is refused: it may come from a model. */
export async function openWorkspaceFile(path: string, line?: number): Promise<void> {
  const uri = await locate(path);
  if (uri === undefined) {
    void vscode.window.showWarningMessage(`Not in this workspace, or gone: ${path}`);
    return;
  }
  if (IMAGE_OR_PDF.test(path)) {
    await vscode.commands.executeCommand("vscode.open", uri, { preview: true }); // in the editor that shows such files
    return;
  }
  const position = new vscode.Position(Math.max(0, (line ?? 1) - 1), 0);
  const selection = line === undefined ? undefined : new vscode.Range(position, position);
  await vscode.window.showTextDocument(uri, { selection, preview: true });
}

async function locate(path: string): Promise<vscode.Uri | undefined> {
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const candidate = resolve(folder.uri.fsPath, path);
    const inside = relative(folder.uri.fsPath, candidate);
    if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
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
