/** The open changes of the session that is shown, as the editor knows them: which files, and of those in sight the hunks. */

import * as vscode from "vscode";
import { warn } from "../notify";
import type { ChangedFile, Hunk, OpenChanges, ParamsOf, UpdateParams } from "../protocol";
import type { ActiveSession } from "../session/activeSession";
import { leftInWords, NOTHING_OPEN, shifted } from "./reviewText";

/** What is open in a file that an editor shows. */
export interface OpenFile {
  file: ChangedFile;
  hunks: readonly Hunk[];
  /** The lines of the text before: what the user accepted, with what they changed elsewhere since. */
  left: readonly string[];
}

type Decision = Omit<ParamsOf<"ullage/session/keepChanges">, "sessionId">;

export class OpenReview implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Other files, hunks or lines than before. */
  readonly onDidChange = this.changed.event;
  private readonly inSight = new Map<string, OpenFile>();
  private readonly subscription: vscode.Disposable;
  /** Counts the looks, so that an answer to an earlier one is passed over. */
  private looks = 0;
  current: OpenChanges = NOTHING_OPEN;

  constructor(private readonly session: ActiveSession) {
    this.subscription = vscode.Disposable.from(
      this.changed,
      session.onDidReplace((snapshot) => this.take(snapshot.changes ?? NOTHING_OPEN)),
      session.onUpdate((params: UpdateParams) => {
        if (params.update.kind === "changes") {
          this.take(params.update.changes);
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => void this.look()),
      vscode.window.onDidChangeActiveTextEditor(() => this.tellKeys()),
      vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
    );
  }

  dispose(): void {
    this.subscription.dispose();
  }

  /** What is open in a document that an editor shows; undefined if nothing is, or where it is not known yet. */
  of(document: vscode.TextDocument): OpenFile | undefined {
    return document.uri.scheme === "file" ? this.inSight.get(document.uri.fsPath) : undefined;
  }

  /** The file with open changes at that place. */
  fileAt(uri: vscode.Uri | undefined): ChangedFile | undefined {
    return uri?.scheme === "file" ? this.current.files.find((file) => placeOf(file).fsPath === uri.fsPath) : undefined;
  }

  /** Accepts or takes back; says what could not be done. @throws Error with a message for the user. */
  async decide(verb: "keep" | "undo", what: Decision): Promise<void> {
    const { files } = await this.session.request(`ullage/session/${verb}Changes`, what);
    const left = leftInWords(files);
    if (left !== undefined) {
      void warn(left);
    }
  }

  private take(changes: OpenChanges): void {
    this.current = changes;
    this.changed.fire();
    void this.look();
  }

  /** Asks for the hunks of what editors show. */
  private async look(): Promise<void> {
    this.looks += 1;
    const look = this.looks;
    const found = new Map<string, OpenFile>();
    for (const document of new Set(vscode.window.visibleTextEditors.map((editor) => editor.document))) {
      const file = this.fileAt(document.uri);
      const { version } = document;
      const asked = file === undefined ? undefined : await this.ask(file).catch(() => undefined);
      // The user typed meanwhile: what is known has moved along, and the server soon says it anew.
      const open = document.version === version ? asked : (this.of(document) ?? asked);
      if (open !== undefined) {
        found.set(document.uri.fsPath, open);
      }
    }
    if (look !== this.looks || (found.size === 0 && this.inSight.size === 0)) {
      return this.tellKeys();
    }
    this.inSight.clear();
    for (const [path, open] of found) {
      this.inSight.set(path, open);
    }
    this.tellKeys();
    this.changed.fire();
  }

  private async ask({ path }: ChangedFile): Promise<OpenFile | undefined> {
    const { open } = await this.session.request("ullage/session/changes", { path });
    const [file] = open;
    const hunks = file?.hunks ?? [];
    if (file === undefined || hunks.length === 0) {
      return file && { file, hunks, left: [] };
    }
    const { text } = await this.session.request("ullage/session/versionText", { path });
    return { file, hunks, left: (text ?? "").split(/\r\n|\r|\n/) };
  }

  /** The marks move with the text while the user types; the server says soon where they are. */
  private follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const open = this.of(document);
    if (open === undefined) {
      return;
    }
    let { hunks } = open;
    for (const { range, text } of contentChanges) {
      const by = text.split(/\r\n|\r|\n/).length - 1 - (range.end.line - range.start.line);
      hunks = shifted(hunks, range.end.line, by);
    }
    this.inSight.set(document.uri.fsPath, { ...open, hunks });
  }

  /** For the `when` clauses of the manifest. */
  private tellKeys(): void {
    const active = vscode.window.activeTextEditor?.document.uri;
    void vscode.commands.executeCommand("setContext", "ullage.openChanges", this.current.count);
    void vscode.commands.executeCommand("setContext", "ullage.fileHasChanges", this.fileAt(active) !== undefined);
  }
}

/** Where a changed file lies. */
export function placeOf(file: Pick<ChangedFile, "uri">): vscode.Uri {
  return vscode.Uri.parse(file.uri, true);
}
