/**
 * The message of a commit, written by the agent's model into the box of VS Code's source control: of what is staged, else of all that is changed.
 * What the user had typed there is given back at a click.
 */

import * as vscode from "vscode";
import { t } from "../l10n";
import { tell } from "../notify";
import type { ActiveSession } from "../session/activeSession";
import { changesOf, type Repository, repositories, untrackedIn } from "./git";

/** Messages of earlier commits that show how they are written here. */
const RECENT = 10;

/** Writes one message at a time. */
export class CommitMessages implements vscode.Disposable {
  private writing: vscode.CancellationTokenSource | undefined;

  constructor(private readonly session: ActiveSession) {}

  /** For the repository of the source control that was clicked, else the only one, else one that is picked. @throws Error for the user */
  async write(clicked: unknown): Promise<void> {
    const repository = await repositoryOf(clicked);
    if (repository === undefined || this.writing !== undefined) {
      return;
    }
    const stop = (this.writing = new vscode.CancellationTokenSource());
    await this.show(true);
    try {
      const location = vscode.ProgressLocation.SourceControl;
      await vscode.window.withProgress({ location, title: t("Writing the commit message") }, () => this.fill(repository, stop.token));
    } catch (error) {
      if (!stop.token.isCancellationRequested) {
        throw error;
      }
    } finally {
      this.writing = undefined;
      stop.dispose();
      await this.show(false);
    }
  }

  /** What is being written is not wanted any more. */
  stop(): void {
    this.writing?.cancel();
  }

  dispose(): void {
    this.writing?.cancel();
  }

  private async fill(repository: Repository, stop: vscode.CancellationToken): Promise<void> {
    const { staged, notStaged } = await changesOf(repository);
    const recent = await repository.log({ maxEntries: RECENT }).catch(() => []); // there may be no commit yet
    const isStaged = staged.trim() !== "";
    const { text } = await this.session.request(
      "ullage/session/commitMessage",
      {
        diff: isStaged ? staged : notStaged,
        newFiles: isStaged ? [] : untrackedIn(repository).map((uri) => uri.toString()),
        recent: recent.map(({ message }) => message),
      },
      stop,
    );
    if (!stop.isCancellationRequested) {
      void put(repository, text);
    }
  }

  private async show(isWriting: boolean): Promise<void> {
    await vscode.commands.executeCommand("setContext", "ullage.writesCommitMessage", isWriting);
  }
}

async function put({ inputBox }: Repository, text: string): Promise<void> {
  const typed = inputBox.value;
  inputBox.value = text;
  if (typed.trim() === "" || typed === text) {
    return;
  }
  const undo = t("Undo");
  if ((await tell(t("The commit message that stood in the box was replaced."), undo)) === undo && inputBox.value === text) {
    inputBox.value = typed;
  }
}

async function repositoryOf(clicked: unknown): Promise<Repository | undefined> {
  const all = await repositories();
  const root = (clicked as { rootUri?: vscode.Uri } | undefined)?.rootUri?.toString();
  const found = all.find(({ rootUri }) => rootUri.toString() === root) ?? (all.length === 1 ? all[0] : undefined);
  if (found !== undefined) {
    return found;
  }
  const picks = all.map((repository) => ({ label: vscode.workspace.asRelativePath(repository.rootUri), repository }));
  return (await vscode.window.showQuickPick(picks, { placeHolder: t("Repository to write a commit message for") }))?.repository;
}
