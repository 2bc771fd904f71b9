/** Code of an answer as a change of a file: shown as a diff first, and made where the user says so. It can be undone in the editor. */

import * as vscode from "vscode";
import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { inWorkspace, isInside, locate } from "./located";
import { tell, warn } from "./notify";
import { placeCode } from "./placeCode";
import type { Proposal, ProposedChanges } from "./proposedChanges";

/** Offers it for the file at `path` in the workspace, else for the one in the active editor. */
export async function applyCode(proposed: ProposedChanges, text: string, path: string | undefined): Promise<void> {
  const open = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  const uri = path === undefined ? open?.document.uri : await locate(path, inWorkspace());
  if (uri === undefined) {
    await (path === undefined ? warn("Open the file that the code belongs in, then apply it.") : offerNewFile(proposed, text, path));
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const name = vscode.workspace.asRelativePath(uri);
  const change = changeOf(document, text);
  if (change === undefined) {
    await vscode.window.showTextDocument(document, { preview: true });
    void warn(`It is not clear where this code belongs in ${name}. Select the lines that it replaces, and apply it again.`);
  } else if (withChange(document, change) === document.getText()) {
    void tell(`${name} has this code already.`);
  } else {
    await proposed.show({ uri, version: document.version, made: withChange(document, change), ...change });
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
  const folder = inWorkspace()[0]?.top;
  const made = folder === undefined ? undefined : resolve(folder, path);
  if (
    folder === undefined ||
    made === undefined ||
    !isInside(made, folder) ||
    !isInside(await realFolder(dirname(made)), await realpath(folder))
  ) {
    void warn(`${path} does not lie in this workspace, so nothing was changed.`);
    return;
  }
  await proposed.show({
    uri: vscode.Uri.file(made),
    version: undefined,
    made: `${text}\n`,
    range: new vscode.Range(0, 0, 0, 0),
    text: `${text}\n`,
  });
}

/** The real place of the nearest folder that there is. */
async function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(() => (dirname(folder) === folder ? folder : realFolder(dirname(folder))));
}
