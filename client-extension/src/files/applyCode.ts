/**
 * Code of an answer on its way into a file: at the cursor at once, or as a proposed change. That is a diff beside its file until the user applies
 * it, discards it, or closes the diff. What was applied can be undone in the editor.
 */

import * as vscode from "vscode";
import { resolve } from "node:path";
import { t } from "../l10n";
import { tell, warn } from "../notify";
import { placeCode } from "./placeCode";
import { isInside, isReallyInside } from "./places";
import { inWorkspace, locate } from "./workspaceFiles";

/** Puts it in the place of what is selected in the editor that was used last. */
export async function insertText(text: string): Promise<void> {
  const editor = lastEditor();
  if (editor === undefined) {
    void warn(t("Open the file that the code belongs in, and put the cursor where it should go."));
    return;
  }
  await editor.edit((edit) => edit.replace(editor.selection, text));
  await vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn });
}

/** Offers it for the file at `path` in the workspace, else for the one in the active editor. */
export async function applyCode(proposed: ProposedChanges, text: string, path: string | undefined): Promise<void> {
  const uri = path === undefined ? lastEditor()?.document.uri : await locate(path, inWorkspace());
  if (uri === undefined) {
    await (path === undefined ? warn(t("Open the file that the code belongs in, then apply it.")) : offerNewFile(proposed, text, path));
    return;
  }
  if (path !== undefined && !(await isReallyInside(uri.fsPath, inWorkspace()))) {
    void warn(liesOutside(path));
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const name = vscode.workspace.asRelativePath(uri);
  const change = changeOf(document, text);
  if (change === undefined) {
    await vscode.window.showTextDocument(document, { preview: true });
    void warn(t("It is not clear where this code belongs in {name}. Select the lines that it replaces, and apply it again.", { name }));
  } else if (withChange(document, change) === document.getText()) {
    void tell(t("{name} has this code already.", { name }));
  } else {
    await proposed.show({ uri, path, version: document.version, made: withChange(document, change), ...change });
  }
}

/** What is selected is what the user means; else the place is found. */
function changeOf(document: vscode.TextDocument, text: string): Pick<Proposal, "range" | "text"> | undefined {
  const selection = vscode.window.visibleTextEditors.find((each) => each.document === document)?.selection;
  if (selection !== undefined && !selection.isEmpty) {
    return { range: selection, text };
  }
  const placed = placeCode(document.getText(), text);
  if (placed === undefined) {
    return undefined;
  }
  const range = document.validateRange(new vscode.Range(placed.start, 0, placed.end - 1, Number.MAX_SAFE_INTEGER));
  return { range, text: placed.lines.join("\n") };
}

function withChange(document: vscode.TextDocument, { range, text }: Pick<Proposal, "range" | "text">): string {
  const end = document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
  const whole = document.getText();
  return whole.slice(0, document.offsetAt(range.start)) + text.replaceAll("\n", end) + whole.slice(document.offsetAt(range.end));
}

/** A file that is not there yet is made; outside of the workspace, also by a symbolic link, none is. */
async function offerNewFile(proposed: ProposedChanges, text: string, path: string): Promise<void> {
  const [first] = inWorkspace();
  const made = first === undefined ? undefined : resolve(first.top, path);
  if (first === undefined || made === undefined || !isInside(made, first.top) || !(await isReallyInside(made, [first]))) {
    void warn(liesOutside(path));
    return;
  }
  await proposed.show({
    uri: vscode.Uri.file(made),
    path,
    version: undefined,
    made: `${text}\n`,
    range: new vscode.Range(0, 0, 0, 0),
    text: `${text}\n`,
  });
}

function lastEditor(): vscode.TextEditor | undefined {
  return vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
}

function liesOutside(path: string): string {
  return t("{path} does not lie in this workspace, so nothing was changed.", { path });
}

interface Proposal {
  uri: vscode.Uri;
  /** As the answer named it: it has to lie in the workspace. Undefined if the file is the one in the editor. */
  path: string | undefined;
  /** Of the document that it was made for; undefined if there is no such file yet. */
  version: number | undefined;
  /** The whole text with the change. */
  made: string;
  range: vscode.Range;
  text: string;
}

const SCHEME = "ullage-proposed";
const EMPTY = vscode.Uri.from({ scheme: SCHEME, path: "/empty" });
const APPLY = t("Apply");

/** Changes that are only proposed: each is a diff beside its file until the user applies it, discards it, or closes the diff. */
export class ProposedChanges implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly proposals = new Map<string, Proposal>();
  private last = 0;
  private readonly registered = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.proposals.delete(uri.toString())),
  );

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.proposals.get(uri.toString())?.made ?? "";
  }

  /** Shows the diff, with buttons in its title and in a notification. */
  async show(proposal: Proposal): Promise<void> {
    this.last += 1;
    const shown = vscode.Uri.from({ scheme: SCHEME, path: proposal.uri.path, query: String(this.last) });
    this.proposals.set(shown.toString(), proposal);
    const name = vscode.workspace.asRelativePath(proposal.uri);
    const before = proposal.version === undefined ? EMPTY : proposal.uri;
    await vscode.commands.executeCommand("vscode.diff", before, shown, t("{name}: proposed change", { name }), { preview: true });
    void this.ask(
      proposal.version === undefined ? t("Make the new file {name}?", { name }) : t("Change {name} as shown?", { name }),
      shown,
    );
  }

  private async ask(question: string, shown: vscode.Uri): Promise<void> {
    const answer = await tell(question, APPLY, t("Discard"));
    if (answer !== undefined) {
      await (answer === APPLY ? this.apply(shown) : this.discard(shown));
    }
  }

  /** Makes the change that the diff shows; without one, that of the diff in front. */
  async apply(shown = inFront()): Promise<void> {
    const proposal = shown === undefined ? undefined : this.proposals.get(shown.toString());
    if (shown === undefined || proposal === undefined) {
      return;
    }
    const { uri, path, version, range, text } = proposal;
    if (path !== undefined && !(await isReallyInside(uri.fsPath, inWorkspace()))) {
      void warn(liesOutside(path)); // a folder became a link while the question was open
      return;
    }
    const edit = new vscode.WorkspaceEdit();
    if (version === undefined) {
      edit.createFile(uri, { contents: Buffer.from(text) });
    } else if ((await vscode.workspace.openTextDocument(uri)).version === version) {
      edit.replace(uri, range, text);
    } else {
      void warn(t("{uri} has changed since, so nothing was applied. Apply the code again.", { uri: vscode.workspace.asRelativePath(uri) }));
      return;
    }
    if (!(await vscode.workspace.applyEdit(edit))) {
      void warn(t("{uri} could not be changed.", { uri: vscode.workspace.asRelativePath(uri) }));
      return;
    }
    await this.discard(shown);
    const lines = text.split("\n").length;
    const selection = new vscode.Range(range.start, new vscode.Position(range.start.line + lines - 1, 0));
    const cursor = new vscode.Range(range.start, range.start);
    const editor = await vscode.window.showTextDocument(uri, { preview: false, selection: cursor });
    editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** Closes the diff; nothing is changed. */
  async discard(shown = inFront()): Promise<void> {
    if (shown !== undefined) {
      this.proposals.delete(shown.toString());
      await vscode.window.tabGroups.close(tabsOf(shown));
    }
  }

  dispose(): void {
    this.registered.dispose();
  }
}

function inFront(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputTextDiff && input.modified.scheme === SCHEME ? input.modified : undefined;
}

function tabsOf(shown: vscode.Uri): vscode.Tab[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.toString() === shown.toString());
}
