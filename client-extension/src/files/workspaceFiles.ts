/** Files of the workspace for the panel: found by the path that a model or a page names, offered after `@`, opened from links, read as images. */

import * as vscode from "vscode";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FileSuggestion, ImageFile } from "../../webview/messages";
import { linesOf } from "../editor/words";
import { t } from "../l10n";
import { warn } from "../notify";
import { imageType, lineWith, nameInUri, rankFiles, UNTITLED } from "./fileFacts";
import { isInside, isReallyInside, nameOfFile, type Place } from "./places";

const MOST_FILES = 20_000;
const MOST_SUGGESTIONS = 20;
const FRESH_MILLISECONDS = 10_000;
const MOST_SYMBOLS = 6;
/** Of a name, before language servers are asked for it. */
const FEWEST_LETTERS = 3;
/** Milliseconds: the menu follows the fingers. */
const SYMBOL_PATIENCE = 400;
/** Bytes of the largest image that the panel shows: what a user pastes or drops is far below, and the page has to hold it. */
const LARGEST_IMAGE = 20_000_000;
const IMAGE_OR_PDF = /\.(png|jpe?g|gif|webp|pdf)$/i;

/** Lists the files that the agent works with, and keeps the list for a few seconds while the user types. */
export class WorkspaceFiles {
  private listed: Promise<FileSuggestion[]> | undefined;
  private listedAt = 0;
  private listedOf: string | undefined;

  /**
   * The best matches for what was typed after `@`: the selection, files and folders, unsaved new documents among them, and symbols. In a session
   * with a `worktree` these are its files. Language servers know those of the workspace folder, whose lines may be others there.
   */
  async find(query: string, worktree?: string): Promise<FileSuggestion[]> {
    if (this.listed === undefined || this.listedOf !== worktree || Date.now() - this.listedAt > FRESH_MILLISECONDS) {
      this.listed = listFiles(worktree);
      this.listedAt = Date.now();
      this.listedOf = worktree;
    }
    const files = await this.listed;
    const [ranked, symbols] = [
      rankFiles(query, [...newDocuments(), ...files, ...foldersOf(files)], MOST_SUGGESTIONS),
      worktree === undefined ? await symbolsFor(query) : [],
    ];
    return [...selectionFor(query), ...ranked.slice(0, MOST_SUGGESTIONS - symbols.length), ...symbols];
  }
}

/** Documents that were never saved: they come and go while somebody types. */
function newDocuments(): FileSuggestion[] {
  return vscode.workspace.textDocuments
    .filter(({ uri, isClosed }) => uri.scheme === UNTITLED && !isClosed)
    .map(({ uri }) => ({ uri: uri.toString(), path: nameInUri(uri.toString()), open: true }));
}

/** The folders that the files lie in. */
function foldersOf(files: readonly FileSuggestion[]): FileSuggestion[] {
  const folders = new Map<string, FileSuggestion>();
  for (const { path, uri } of files) {
    for (
      let end = path.lastIndexOf("/"), at = uri.lastIndexOf("/");
      end > 0;
      end = path.lastIndexOf("/", end - 1), at = uri.lastIndexOf("/", at - 1)
    ) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) {
        break;
      }
      folders.set(folder, { uri: uri.slice(0, at), path: folder, open: false, kind: "folder" });
    }
  }
  return [...folders.values()];
}

function selectionFor(query: string): FileSuggestion[] {
  const editor = vscode.window.activeTextEditor;
  const lines = editor && !editor.document.isUntitled ? linesOf(editor.selection.start, editor.selection.end) : undefined;
  if (editor === undefined || lines === undefined || !"selection".startsWith(query.toLowerCase())) {
    return [];
  }
  const { uri } = editor.document;
  return [{ uri: uri.toString(), path: vscode.workspace.asRelativePath(uri), open: true, kind: "selection", name: "selection", lines }];
}

/** What language servers know by that name; nothing if none answers soon. */
async function symbolsFor(query: string): Promise<FileSuggestion[]> {
  if (query.length < FEWEST_LETTERS || /[/.]/.test(query)) {
    return [];
  }
  const asked = vscode.commands.executeCommand<vscode.SymbolInformation[]>("vscode.executeWorkspaceSymbolProvider", query);
  const found = await Promise.race([Promise.resolve(asked).catch(() => []), delay(SYMBOL_PATIENCE, [])]);
  return found
    .filter(({ location: { uri } }) => uri.scheme === "file" && vscode.workspace.getWorkspaceFolder(uri) !== undefined)
    .slice(0, MOST_SYMBOLS)
    .map(({ name, location: { uri, range } }) => ({
      uri: uri.toString(),
      path: vscode.workspace.asRelativePath(uri),
      open: false,
      kind: "symbol",
      name,
      lines: { first: range.start.line + 1, last: range.end.line + 1 },
    }));
}

async function listFiles(worktree: string | undefined): Promise<FileSuggestion[]> {
  const open = new Set(vscode.workspace.textDocuments.map((document) => document.uri.toString()));
  const all = worktree === undefined ? "**/*" : new vscode.RelativePattern(vscode.Uri.file(worktree), "**/*");
  const found = await vscode.workspace.findFiles(all, "**/{.git,node_modules,.venv,.ullage,__pycache__}/**", MOST_FILES);
  const named = (uri: vscode.Uri) =>
    worktree === undefined
      ? vscode.workspace.asRelativePath(uri)
      : (nameOfFile(uri.fsPath, [worktree]) ?? vscode.workspace.asRelativePath(uri));
  return found.map((uri) => ({ uri: uri.toString(), path: named(uri), open: open.has(uri.toString()) }));
}

/** What the server keeps that the user may look at: whole outputs, images, transcripts, plans. */
const KEPT = ["tool-results", "media", "transcripts", "plans"];

/**
 * Shows a file of the workspace, or one that is kept of its sessions in `storeFolder`, in an editor. A path that leads elsewhere is refused:
 * it may come from a model.
 */
export async function openFile(path: string, storeFolder: string | undefined, line?: number, near = "", worktree?: string): Promise<void> {
  const uri = await locate(path, placesOf(storeFolder, worktree));
  if (uri === undefined) {
    void warn(t("File not found: {path}", { path }));
    return;
  }
  if (IMAGE_OR_PDF.test(path)) {
    await vscode.commands.executeCommand("vscode.open", uri, { preview: true }); // in the editor that shows such files
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const at = line === undefined ? lineWith(document.getText(), near) : line - 1;
  const position = new vscode.Position(Math.max(0, at ?? 0), 0);
  const selection = at === undefined ? undefined : new vscode.Range(position, position);
  await vscode.window.showTextDocument(document, { selection, preview: true });
}

/**
 * An image of the workspace, or one that is kept of its sessions. The path may come from a model. @throws Error where it leads elsewhere, or
 * to no image, or to a very large one.
 */
export async function readImage(path: string, storeFolder: string | undefined, worktree?: string): Promise<ImageFile> {
  const places = placesOf(storeFolder, worktree);
  const uri = await locate(path, places);
  if (uri === undefined || !(await isReallyInside(uri.fsPath, places))) {
    throw new Error(t("No image file: {path}", { path }));
  }
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size > LARGEST_IMAGE) {
    throw new Error(t("Too large to show: {path} has {size} bytes", { path, size }));
  }
  const bytes = new Uint8Array(await vscode.workspace.fs.readFile(uri));
  const mediaType = imageType(bytes);
  if (mediaType === undefined) {
    throw new Error(t("No image that can be shown: {path}", { path }));
  }
  return { bytes, mediaType };
}

/** In a session that has one, a path is that of the file in the worktree. */
function placesOf(storeFolder: string | undefined, worktree: string | undefined): Place[] {
  const kept = storeFolder === undefined ? [] : [storeFolder];
  const first = worktree === undefined ? [] : [{ top: worktree, within: [worktree] }];
  return [...first, ...inWorkspace(), ...kept.map((top): Place => ({ top, within: KEPT.map((name) => resolve(top, name)) }))];
}

/** Every folder of the workspace, and what lies in it. */
export function inWorkspace(): Place[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => ({ top: uri.fsPath, within: [uri.fsPath] }));
}

/** The file there; undefined if there is none, or the path leads elsewhere by its names. */
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
