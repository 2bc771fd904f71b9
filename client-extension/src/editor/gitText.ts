/** Git changes in words. No VS Code in here. The model reads it, so it is English. */
/* oxlint-disable ullage/untranslated */

/** What is changed in one repository: diffs as git writes them, and new files that it does not know yet. */
export interface RepositoryChanges {
  name: string;
  staged: string;
  notStaged: string;
  untracked: readonly string[];
}

/** All of it under headings; empty if nothing is changed. The name of a repository stands there only where there are several. */
export function changesTold(repositories: readonly RepositoryChanges[]): string {
  return repositories
    .map((each) => ({ name: each.name, told: changesOfOne(each) }))
    .filter(({ told }) => told !== "")
    .map(({ name, told }) => (repositories.length > 1 ? `Repository ${name}\n\n${told}` : told))
    .join("\n\n");
}

function changesOfOne({ staged, notStaged, untracked }: RepositoryChanges): string {
  const parts = [
    ["Staged:", staged],
    ["Not staged:", notStaged],
    ["New files that git does not know yet:", untracked.join("\n")],
  ] as const;
  return parts
    .filter(([, text]) => text.trim() !== "")
    .map(([heading, text]) => `${heading}\n${text.trimEnd()}`)
    .join("\n\n");
}
