/** The agent's open changes in words, and where their lines are. Pure: the panel, the editor's marks and the tests share it. */

import { plural, t } from "../l10n";
import { sentence } from "../visible";
import type { ChangedFile, Checkpoint, DecidedFile, FileBack, Hunk, OpenChanges, TurnChanges } from "../protocol";

export const NOTHING_OPEN: OpenChanges = { files: [], count: 0, added: 0, removed: 0 };

/** The keys of the manifest. On macOS, Cmd stands for Ctrl. */
export const CHANGE_KEYS = { next: "Ctrl+Alt+J", previous: "Ctrl+Alt+K", keep: "Ctrl+Alt+Y", undo: "Ctrl+Alt+Z" } as const;

/** `1 file`, `3 files`. */
export function filesInWords(count: number): string {
  return plural(count, t("{count} file"), t("{count} files"));
}

/** `1 file changed`. */
export function changedInWords({ count }: Pick<OpenChanges, "count">): string {
  return plural(count, t("{count} file changed"), t("{count} files changed"));
}

/** `+24 −7`; what is not there is left out. */
export function linesInWords({ added, removed }: { added: number; removed: number }): string {
  return [added > 0 ? `+${added}` : "", removed > 0 ? `−${removed}` : ""].filter(Boolean).join(" ");
}

/** For those who do not see the signs: `24 lines added, 7 removed`. */
export function linesSpoken({ added, removed }: { added: number; removed: number }): string {
  return plural(added, t("{count} line added, {removed} removed"), t("{count} lines added, {removed} removed"), { removed });
}

/** What happened to a file, in one letter as in the editor's own lists, and in a word. */
export const STATUS: Record<ChangedFile["status"], { letter: string; word: string }> = {
  created: { letter: "A", word: t("new") },
  modified: { letter: "M", word: t("changed") },
  deleted: { letter: "D", word: t("deleted") },
};

/** Which line of the editor an open change begins at, from 0, in a text of that many lines. */
export function lineOf(hunk: Hunk, lineCount: number): number {
  return Math.max(0, Math.min(hunk.newStart - 1, lineCount - 1));
}

/** The change that a line is in, or, of removed lines, beside. @param line from 0 */
export function hunkAt(hunks: readonly Hunk[], line: number, lineCount: number): Hunk | undefined {
  return hunks.find((hunk) => {
    const first = lineOf(hunk, lineCount);
    return line >= first && line < first + Math.max(1, hunk.newLines);
  });
}

/** The change after a line, or before it; round and round. @param line from 0 */
export function hunkFrom(hunks: readonly Hunk[], line: number, lineCount: number, direction: "next" | "previous"): Hunk | undefined {
  if (direction === "next") {
    return hunks.find((hunk) => lineOf(hunk, lineCount) > line) ?? hunks[0];
  }
  return hunks.findLast((hunk) => lineOf(hunk, lineCount) < line) ?? hunks.at(-1);
}

/** Where the changes are after lines above them came or went, until the server says it anew. @param line from 0, the last one that was replaced */
export function shifted(hunks: readonly Hunk[], line: number, by: number): Hunk[] {
  return hunks.map((hunk) => (by !== 0 && hunk.newStart - 1 > line ? { ...hunk, newStart: hunk.newStart + by } : hunk));
}

/** Files with one and the same reason that are named one by one. */
const SAME_REASON = 3;

/** What could not be kept or undone, or stays, in sentences; undefined if all of it was done. */
export function leftInWords(files: readonly DecidedFile[]): string | undefined {
  const left = files.filter(({ why }) => why != null && why !== "");
  if (left.length === 0) {
    return undefined;
  }
  const byReason = new Map<string, string[]>();
  for (const { path, why } of left) {
    byReason.set(why ?? "", [...(byReason.get(why ?? "") ?? []), path]);
  }
  const shown = [...byReason].flatMap(([why, paths]) =>
    paths.length > SAME_REASON ? [{ what: filesInWords(paths.length), why }] : paths.map((path) => ({ what: path, why })),
  );
  const sentences = shown.slice(0, 5).map(({ what, why }) => sentence(`${what}: ${why}`));
  return [...sentences, ...(shown.length > 5 ? [t("And {count} more.", { count: shown.length - 5 })] : [])].join(" ");
}

/** What a comment on some lines says to the agent. Lines count from 1. */
export function commentPrompt(path: string, first: number, last: number, code: string, comment: string): string {
  const where =
    first === last ? t("In {path}, line {first}:", { path, first }) : t("In {path}, lines {first} to {last}:", { path, first, last });
  const fence = "`".repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${where}\n\n${fence}\n${code}\n${fence}\n\n${comment}`;
}

/** What going back does to a file. */
export const ACTIONS: Record<FileBack["action"], { icon: string; word: string }> = {
  write: { icon: "edit", word: t("gets its earlier text") },
  create: { icon: "new-file", word: t("is made again") },
  delete: { icon: "trash", word: t("is deleted") },
};

const LONGEST_TITLE = 60;

/** What a turn is called where its changes stand together. */
export function turnInWords({ title }: Pick<TurnChanges, "title">): string {
  return t("Changes since “{title}”", { title: shortened(title) });
}

/** Where a checkpoint leads. */
export function checkpointInWords({ title, forward }: Pick<Checkpoint, "title" | "forward">): string {
  return forward === true
    ? t("Forward again: {title}", { title: shortened(title) })
    : t("Back to before “{title}”", { title: shortened(title) });
}

function shortened(title: string): string {
  const [line = ""] = title.split("\n");
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE)}…` : line;
}

/** As much of a message as a list has room for. */
export function firstSentence(text: string): string {
  const [first = ""] = text.split(/(?<=[.!?]) /);
  return first.replace(/\.$/, "");
}
