/** A session's worktree in words: what would come back into the workspace folder, and what is lost when it is removed. No VS Code in here. */

import { plural, t } from "../l10n";
import type { DecidedFile, WorktreeFile, WorktreeStanding } from "../protocol";

/** Of each action, its icon and its word. */
export const BRINGING: Readonly<Record<WorktreeFile["action"], { icon: string; word: string }>> = {
  write: { icon: "edit", word: t("changed there") },
  create: { icon: "new-file", word: t("new there") },
  delete: { icon: "trash", word: t("deleted there") },
  join: { icon: "git-merge", word: t("changed on both sides, joined line by line") },
  same: { icon: "check", word: t("the same here") },
};

/** Those that bringing back would change. */
export function toBring({ files }: Pick<WorktreeStanding, "files">): WorktreeFile[] {
  return files.filter(({ action, conflict }) => conflict == null && action !== "same");
}

/** Those that cannot be joined. */
export function inConflict({ files }: Pick<WorktreeStanding, "files">): WorktreeFile[] {
  return files.filter(({ conflict }) => conflict != null);
}

/** What is in the worktree and not in the workspace folder. */
export function standingInWords(standing: WorktreeStanding): string {
  const [files, conflicts] = [toBring(standing).length, inConflict(standing).length];
  const words = [
    files === 0 ? "" : plural(files, t("{count} file to bring back"), t("{count} files to bring back")),
    conflicts === 0 ? "" : plural(conflicts, t("{count} file in conflict"), t("{count} files in conflict")),
  ].filter(Boolean);
  return words.length === 0 ? t("nothing differs from the workspace folder") : words.join(", ");
}

/** For the question before it is removed. */
export function lostWithWorktree(standing: WorktreeStanding): string {
  const lost = [...toBring(standing), ...inConflict(standing)];
  const named = lost
    .slice(0, 10)
    .map(({ path }) => path)
    .join(", ");
  const more = lost.length > 10 ? t(" and {count} more", { count: lost.length - 10 }) : "";
  return [
    lost.length === 0
      ? t("All that was changed there is in the workspace folder, too.")
      : plural(
          lost.length,
          t("{count} file was changed there and is not in the workspace folder: {named}. What is not committed is lost."),
          t("{count} files were changed there and are not in the workspace folder: {named}. What is not committed is lost."),
          { named: `${named}${more}` },
        ),
    t("Files that git ignores are deleted, too."),
    standing.commits > 0
      ? plural(
          standing.commits,
          t("{count} commit stays in git, on the branch {branch}."),
          t("{count} commits stay in git, on the branch {branch}."),
          { branch: standing.worktree.branch },
        )
      : t("The branch {branch} has no commits and goes, too.", { branch: standing.worktree.branch }),
    t("The conversation stays."),
  ].join(" ");
}

/** What came of bringing back. */
export function broughtInWords(files: readonly DecidedFile[]): string {
  const done = files.filter(({ outcome }) => outcome === "done").length;
  const left = files.filter(({ outcome }) => outcome !== "done");
  const first = left[0];
  return [
    done === 0 ? t("No file was changed.") : plural(done, t("{count} file brought back."), t("{count} files brought back.")),
    first === undefined
      ? ""
      : plural(
          left.length,
          t("{count} file stays as it is: {path} ({why}). Compare it, or merge the branch with git."),
          t("{count} files stay as they are, such as {path} ({why}). Compare them, or merge the branch with git."),
          { path: first.path, why: first.why ?? "" },
        ),
  ]
    .filter(Boolean)
    .join(" ");
}

/** What became of taking that back. */
export function takenBackInWords(files: readonly DecidedFile[]): string {
  const done = files.filter(({ outcome }) => outcome === "done").length;
  const left = files.filter(({ outcome }) => outcome !== "done");
  const first = left[0];
  return [
    done === 0
      ? t("No file was changed.")
      : plural(done, t("{count} file is as it was before."), t("{count} files are as they were before.")),
    first === undefined
      ? ""
      : plural(left.length, t("{count} file stays: {path} ({why})."), t("{count} files stay, such as {path} ({why})."), {
          path: first.path,
          why: first.why ?? "",
        }),
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}
