/** The open changes in the open file: marked lines, what was there before on hover, Keep and Undo above each, and the way from one to the next. */

import * as vscode from "vscode";
import { t } from "../l10n";
import type { Hunk } from "../protocol";
import type { OpenFile, OpenReview } from "./openReview";
import { hunkAt, hunkFrom, lineOf, linesInWords, linesSpoken } from "./reviewText";

const RULER = { overviewRulerLane: vscode.OverviewRulerLane.Left };

export class Marks implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly lensesChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lensesChanged.event;
  private readonly added = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.insertedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.addedForeground"),
    ...RULER,
  });
  private readonly edited = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth: "0 0 0 3px",
    borderStyle: "solid",
    borderColor: new vscode.ThemeColor("editorGutter.modifiedBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.modifiedForeground"),
    ...RULER,
  });
  private readonly removed = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth: "2px 0 0 0",
    borderStyle: "dotted",
    borderColor: new vscode.ThemeColor("editorGutter.deletedBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.deletedForeground"),
    ...RULER,
  });
  private readonly registered: vscode.Disposable;

  constructor(private readonly review: OpenReview) {
    this.registered = vscode.Disposable.from(
      this.lensesChanged,
      this.added,
      this.edited,
      this.removed,
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
      review.onDidChange(() => this.draw()),
      vscode.window.tabGroups.onDidChangeTabs(() => this.draw()),
    );
  }

  dispose(): void {
    this.registered.dispose();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const open = this.review.of(document);
    return (open?.hunks ?? []).flatMap((hunk) => {
      const line = lineOf(hunk, document.lineCount);
      const range = new vscode.Range(line, 0, line, 0);
      const lens = (title: string, command: string, tooltip: string) =>
        new vscode.CodeLens(range, { title, tooltip, command, arguments: [document.uri, hunk.id] });
      const counts = linesInWords({ added: hunk.newLines, removed: hunk.oldLines });
      const said = hunk.edited === true ? t("{counts}, edited by you", { counts }) : counts;
      return [
        lens(`$(check) ${t("Keep")}`, "ullage.keepChange", t("Accept this change of the agent")),
        ...(hunk.edited === true ? [] : [lens(`$(discard) ${t("Undo")}`, "ullage.undoChange", t("Take this change of the agent back"))]),
        lens(said, "ullage.reviewFile", t("Show the changes of this file beside what was before")),
      ];
    });
  }

  /** Moves the cursor to the change after it, or before it. */
  go(direction: "next" | "previous"): void {
    const editor = vscode.window.activeTextEditor;
    const open = editor && this.review.of(editor.document);
    const hunk = editor && open && hunkFrom(open.hunks, editor.selection.active.line, editor.document.lineCount, direction);
    if (editor === undefined || open === undefined || hunk === undefined) {
      throw new Error(t("This file has no open changes of the agent"));
    }
    const at = new vscode.Position(lineOf(hunk, editor.document.lineCount), 0);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    const place = t("Change {number} of {count}", { number: open.hunks.indexOf(hunk) + 1, count: open.hunks.length });
    vscode.window.setStatusBarMessage(`${place}: ${linesSpoken({ added: hunk.newLines, removed: hunk.oldLines })}`, 5_000);
  }

  /** The change that a command is about: the one that is named, else the one at the cursor. @throws Error with a message for the user. */
  meant(uri: unknown, hunkId: unknown): { path: string; hunkId: string } {
    const editor = vscode.window.activeTextEditor;
    const file = this.review.fileAt(uri instanceof vscode.Uri ? uri : editor?.document.uri);
    if (file !== undefined && typeof hunkId === "string") {
      return { path: file.path, hunkId };
    }
    const open = editor && this.review.of(editor.document);
    const hunk = editor && open && hunkAt(open.hunks, editor.selection.active.line, editor.document.lineCount);
    if (file === undefined || hunk === undefined) {
      throw new Error(t("Put the cursor into a change of the agent first"));
    }
    return { path: file.path, hunkId: hunk.id };
  }

  private draw(): void {
    this.lensesChanged.fire();
    for (const editor of vscode.window.visibleTextEditors) {
      const open = isInDiff(editor) ? undefined : this.review.of(editor.document);
      const hunks = open?.hunks ?? [];
      const marked = (of: (hunk: Hunk) => boolean) => hunks.filter(of).map((hunk) => markOf(editor.document, hunk, open));
      editor.setDecorations(
        this.added,
        marked((hunk) => hunk.newLines > 0 && hunk.edited !== true),
      );
      editor.setDecorations(
        this.edited,
        marked((hunk) => hunk.newLines > 0 && hunk.edited === true),
      );
      editor.setDecorations(
        this.removed,
        marked((hunk) => hunk.newLines === 0),
      );
    }
  }
}

function markOf(document: vscode.TextDocument, hunk: Hunk, open: OpenFile | undefined): vscode.DecorationOptions {
  const first = lineOf(hunk, document.lineCount);
  const last = Math.max(first, first + hunk.newLines - 1);
  const before = (open?.left ?? []).slice(hunk.oldStart - 1, hunk.oldStart - 1 + hunk.oldLines).join("\n");
  const hover = new vscode.MarkdownString();
  if (hunk.oldLines > 0) {
    hover.appendText(t("Before the agent changed it:"));
    hover.appendCodeblock(before, document.languageId);
  } else {
    hover.appendText(t("The agent added this"));
  }
  return { range: new vscode.Range(first, 0, Math.min(last, document.lineCount - 1), 0), hoverMessage: hover };
}

/** A diff editor has its own colours for what differs. */
function isInDiff(editor: vscode.TextEditor): boolean {
  const group = vscode.window.tabGroups.all.find(({ viewColumn }) => viewColumn === editor.viewColumn);
  const input = group?.activeTab?.input;
  return input !== undefined && !(input instanceof vscode.TabInputText);
}
