/** Changes that are only proposed: each is a diff beside its file until the user applies it, discards it, or closes the diff. */

import * as vscode from "vscode";
import { tell, warn } from "./notify";

export interface Proposal {
  uri: vscode.Uri;
  /** Of the document that it was made for; undefined where there is no such file yet. */
  version: number | undefined;
  /** The whole text with the change. */
  made: string;
  range: vscode.Range;
  text: string;
}

const SCHEME = "ullage-proposed";
const EMPTY = vscode.Uri.from({ scheme: SCHEME, path: "/empty" });
const APPLY = "Apply";

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
    await vscode.commands.executeCommand("vscode.diff", before, shown, `${name}: proposed change`, { preview: true });
    void this.ask(proposal.version === undefined ? `Make the new file ${name}?` : `Change ${name} as shown?`, shown);
  }

  private async ask(question: string, shown: vscode.Uri): Promise<void> {
    const answer = await tell(question, APPLY, "Discard");
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
    const { uri, version, range, text } = proposal;
    const edit = new vscode.WorkspaceEdit();
    if (version === undefined) {
      edit.createFile(uri, { contents: Buffer.from(text) });
    } else if ((await vscode.workspace.openTextDocument(uri)).version === version) {
      edit.replace(uri, range, text);
    } else {
      void warn(`${vscode.workspace.asRelativePath(uri)} has changed since, so nothing was applied. Apply the code again.`);
      return;
    }
    if (!(await vscode.workspace.applyEdit(edit))) {
      void warn(`${vscode.workspace.asRelativePath(uri)} could not be changed.`);
      return;
    }
    await this.discard(shown);
    const lines = text.split("\n").length;
    const selection = new vscode.Range(range.start, new vscode.Position(range.start.line + lines - 1, 0));
    const editor = await vscode.window.showTextDocument(uri, { preview: false });
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
