/**
 * Git changes, by VS Code's own Git extension: it runs git, in workspaces that are trusted alone, and Ullage does not. Only what is used of its
 * interface (version 1, which it keeps stable) is written down here.
 */

import * as vscode from "vscode";
import { t } from "../l10n";
import type { AttachmentRef } from "../protocol";
import { changesTold, type RepositoryChanges } from "./gitText";
import { textOf } from "./words";

interface Change {
  uri: vscode.Uri;
}

/** A repository of the window. */
export interface Repository {
  rootUri: vscode.Uri;
  inputBox: { value: string };
  state: { indexChanges: Change[]; workingTreeChanges: Change[]; untrackedChanges?: Change[]; mergeChanges: Change[] };
  diff(cached?: boolean): Promise<string>;
  diffWithHEAD(path: string): Promise<string>;
  diffIndexWithHEAD(path: string): Promise<string>;
  log(options?: { maxEntries?: number }): Promise<{ message: string }[]>;
}

/** What the Git extension tells of a change in its view; 1 is the index. */
export interface ChangeInView {
  resourceUri: vscode.Uri;
  resourceGroupType?: number;
}
const INDEX = 1;

interface GitApi {
  repositories: Repository[];
  getRepository(uri: vscode.Uri): Repository | null;
}

/** @throws Error with a message for the user. */
async function git(): Promise<GitApi> {
  const extension = vscode.extensions.getExtension<{ enabled: boolean; getAPI(version: 1): GitApi }>("vscode.git");
  if (extension === undefined) {
    throw new Error(t("VS Code's Git extension is disabled, so Ullage does not know the changes"));
  }
  const exported = extension.isActive ? extension.exports : await extension.activate();
  if (!exported.enabled) {
    throw new Error(t("Git is off in the settings of VS Code, or it is not installed, so Ullage does not know the changes"));
  }
  return exported.getAPI(1);
}

/** The repositories that are open. @throws Error with a message for the user where there is none. */
export async function repositories(): Promise<Repository[]> {
  const found = (await git()).repositories;
  if (found.length === 0) {
    throw new Error(t("No Git repository is open in this window"));
  }
  return found;
}

/** What is changed in all repositories, or what is staged. @throws Error with a message for the user. */
export async function gitChanges(only: "changes" | "staged"): Promise<AttachmentRef> {
  const all = await Promise.all((await repositories()).map((repository) => changesOf(repository)));
  const told = changesTold(only === "staged" ? all.map((each) => ({ ...each, notStaged: "", untracked: [] })) : all);
  if (told === "") {
    throw new Error(only === "staged" ? t("Nothing is staged") : t("Nothing is changed"));
  }
  const name = only === "staged" ? "staged git changes" : "git changes"; // oxlint-disable-line ullage/untranslated -- the model reads it
  return textOf(name, told);
}

/** What is changed in one repository. */
export async function changesOf(repository: Repository): Promise<RepositoryChanges> {
  const [staged, notStaged] = await Promise.all([repository.diff(true), repository.diff(false)]);
  return {
    name: repository.rootUri.path.split("/").at(-1) ?? "",
    staged,
    notStaged,
    untracked: untrackedIn(repository).map((uri) => vscode.workspace.asRelativePath(uri)),
  };
}

/** New files that git does not know yet. */
export function untrackedIn({ state }: Repository): vscode.Uri[] {
  const inWorkingTree = state.workingTreeChanges.filter((change) => (change as { status?: number }).status === UNTRACKED);
  return [...inWorkingTree, ...(state.untrackedChanges ?? [])].map(({ uri }) => uri);
}
const UNTRACKED = 7;

/** How one file is changed, as the source control shows it; undefined if git knows nothing of it, such as of a new file. */
export async function changeOf({ resourceUri, resourceGroupType }: ChangeInView): Promise<AttachmentRef | undefined> {
  const repository = (await git()).getRepository(resourceUri);
  const path = resourceUri.fsPath;
  const diff = await (resourceGroupType === INDEX ? repository?.diffIndexWithHEAD(path) : repository?.diffWithHEAD(path));
  const name = `changes of ${vscode.workspace.asRelativePath(resourceUri)}`; // oxlint-disable-line ullage/untranslated -- the model reads it
  return diff === undefined || diff.trim() === "" ? undefined : textOf(name, diff);
}
