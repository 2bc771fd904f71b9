/** The agent's changes in VS Code's own diff editors: what was before on the left, the file as it is on the right. */

import * as vscode from "vscode";
import { t } from "../l10n";
import { tell } from "../notify";
import type { ChangedFile } from "../protocol";
import type { ActiveSession } from "../session/activeSession";
import { type OpenReview, placeOf } from "./openReview";
import { turnInWords } from "./reviewText";

const SCHEME = "ullage-version";

/** Of which file and turn a left side is; `isGone`: nothing, for the right side of a file that was deleted. */
interface Version {
  path: string;
  sessionId: string;
  turnId?: string;
  isGone?: boolean;
}

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registered: vscode.Disposable;

  constructor(
    private readonly session: ActiveSession,
    private readonly review: OpenReview,
  ) {
    this.registered = vscode.Disposable.from(
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      review.onDidChange(() => this.renew()),
    );
  }

  dispose(): void {
    this.registered.dispose();
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const { path, sessionId, turnId, isGone } = JSON.parse(uri.query) as Version;
    if (isGone === true) {
      return "";
    }
    try {
      return (await this.session.pass("ullage/session/versionText", { sessionId, path, turnId })).text ?? "";
    } catch {
      return textNow(uri.with({ scheme: "file", query: "" })); // nothing is open in it any more, so nothing differs
    }
  }

  /** Opens one file: the one that is named, else the one in the active editor. */
  async openFile(path: string | undefined): Promise<void> {
    const active = vscode.window.activeTextEditor?.document.uri;
    const file = path === undefined ? this.review.fileAt(active) : this.review.current.files.find((each) => each.path === path);
    if (file === undefined) {
      throw new Error(
        path === undefined ? t("This file has no open changes of the agent") : t("{path} has no open changes of the agent", { path }),
      );
    }
    const [, left, right] = this.sides(file);
    const name = nameOf(file);
    // As VS Code's own git: beside what was not there before an empty document would show one empty line as removed.
    if (file.status === "created") {
      await vscode.commands.executeCommand("vscode.open", right, { preview: true });
    } else if (file.status === "deleted") {
      await vscode.commands.executeCommand("vscode.open", left, { preview: true }, t("{name} (deleted)", { name }));
    } else {
      await vscode.commands.executeCommand("vscode.diff", left, right, t("{name} (before ↔ now)", { name }), { preview: true });
    }
  }

  /** Opens all files with open changes together. */
  async openAll(): Promise<void> {
    const { files, count } = this.review.current;
    if (count === 0) {
      void tell(t("The agent has changed nothing that is still open."));
      return;
    }
    await this.openTogether(t("Changes of the agent"), files);
  }

  /** Opens all files that a turn changed: before it, and now. */
  async openTurn(turnId: string): Promise<void> {
    const { turns } = await this.session.request("ullage/session/changes", { turnId });
    const [turn] = turns;
    if (turn !== undefined) {
      await this.openTogether(turnInWords(turn), turn.files, turnId);
    }
  }

  private async openTogether(title: string, files: readonly ChangedFile[], turnId?: string): Promise<void> {
    await vscode.commands.executeCommand(
      "vscode.changes",
      title,
      files.map((file) => {
        const [place, left, right] = this.sides(file, turnId);
        return [place, file.status === "created" ? undefined : left, file.status === "deleted" ? undefined : right];
      }),
    );
  }

  private sides(file: ChangedFile, turnId?: string): [vscode.Uri, vscode.Uri, vscode.Uri] {
    const place = placeOf(file);
    const version: Version = { path: file.path, sessionId: this.session.current?.sessionId ?? "", turnId };
    const of = (each: Version) => place.with({ scheme: SCHEME, query: JSON.stringify(each) });
    return [place, of(version), file.status === "deleted" ? of({ ...version, isGone: true }) : place];
  }

  private renew(): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme === SCHEME) {
        this.changed.fire(uri);
      }
    }
  }
}

/** Without opening the file: a document that was opened stays so for a while, even where its file is gone. */
async function textNow(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  try {
    return open?.getText() ?? (await vscode.workspace.decode(await vscode.workspace.fs.readFile(uri), { uri }));
  } catch {
    return "";
  }
}

function nameOf({ path }: ChangedFile): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
