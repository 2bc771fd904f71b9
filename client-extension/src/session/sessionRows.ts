/** A session in the list of sessions, in words: what it does, how full it is, what it cost, what is open of its changes. No VS Code and no DOM in here. */

import { formatDollars, formatShare } from "../format";
import { dateLanguage, plural, t } from "../l10n";
import type { SessionFigures, SessionSummary } from "../protocol";
import { endsWith } from "./runningText";

export type Status = SessionFigures["status"];

/** Of each status, its word and its icon; idle has neither. */
export const STATUSES: Readonly<Record<Status, { word: string; icon: string }>> = {
  idle: { word: "", icon: "" },
  working: { word: t("working"), icon: "loading" },
  waiting: { word: t("waits for you"), icon: "question" },
  done: { word: t("done, not looked at yet"), icon: "circle-filled" },
  failed: { word: t("failed"), icon: "error" },
  interrupted: { word: t("interrupted"), icon: "debug-disconnect" },
};

/** What it does. An earlier version kept no figures of it. */
export function statusOf({ state, figures }: SessionSummary): Status {
  return figures?.status ?? (state === "idle" ? "idle" : "working");
}

/** Whether the user has something to do or to see there. */
export function wantsAttention(status: Status): boolean {
  return status !== "idle" && status !== "working";
}

/** Its title, or what stands for one before the first prompt. */
export function titleOf(summary: Pick<SessionSummary, "title">): string {
  return summary.title || t("New session");
}

/** How full its context is; undefined if that is not known. */
export function fullnessOf({ figures }: SessionSummary): { share: number; words: string } | undefined {
  const { used, threshold } = figures ?? {};
  return used == null || threshold == null || threshold <= 0
    ? undefined
    : { share: Math.min(1, used / threshold), words: formatShare(used / threshold) };
}

/** What else is to be said of it, in the order in which it matters. */
export function notesOf(summary: SessionSummary, isActive: boolean): string[] {
  const { figures, openElsewhere, foreign, worktree } = summary;
  return [
    STATUSES[statusOf(summary)].word,
    isActive ? t("shown here") : "",
    openElsewhere === true ? t("open in another window") : "",
    foreign === true ? t("imported, read only") : "",
    worktree == null ? "" : worktree.branch,
    runningNote(figures?.running),
    figures?.cost == null ? "" : formatDollars(figures.cost),
  ].filter(Boolean);
}

function runningNote(count: number | null | undefined): string {
  return count == null || count === 0 ? "" : plural(count, t("{count} command runs"), t("{count} commands run"));
}

/** `3 files`; empty if nothing is open. */
export function openFilesOf({ figures }: SessionSummary): string {
  return figures?.files == null || figures.files === 0 ? "" : plural(figures.files, t("{count} file"), t("{count} files"));
}

/** Such as `5 min ago`. Both are in Unix seconds. */
export function ageOf(seconds: number, now: number): string {
  const minutes = Math.max(0, now - seconds) / 60;
  if (minutes < 1) {
    return t("just now");
  }
  if (minutes < 60) {
    return t("{minutes} min ago", { minutes: Math.floor(minutes) });
  }
  return minutes < 24 * 60
    ? t("{hours} h ago", { hours: Math.floor(minutes / 60) })
    : new Date(seconds * 1000).toLocaleDateString(dateLanguage());
}

/** Those whose title or status has all the words; those that want attention first, then as they come. */
export function matching(sessions: readonly SessionSummary[], words: string): readonly SessionSummary[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = sessions.filter((each) => {
    const text = `${titleOf(each)} ${notesOf(each, false).join(" ")}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  return found.toSorted((one, other) => Number(isUrgent(other)) - Number(isUrgent(one)));
}

function isUrgent(summary: SessionSummary): boolean {
  return statusOf(summary) === "waiting";
}

/** What is lost with a session, for the question before it is deleted. */
export function lostWith(summary: SessionSummary): string {
  const { figures } = summary;
  const status = statusOf(summary);
  const files = figures?.files ?? 0;
  return [
    status === "working" || status === "waiting" ? t("It is at work: that is stopped.") : "",
    endsWith(figures?.running),
    t(
      "The conversation is deleted for good, with all that is kept for it: whole outputs, images, and the versions of files to go back to.",
    ),
    files > 0
      ? plural(
          files,
          t(
            "{count} file has changes that you have neither kept nor undone. They stay in the file, and can then no longer be undone here.",
          ),
          t(
            "{count} files have changes that you have neither kept nor undone. They stay in the files, and can then no longer be undone here.",
          ),
        )
      : t("No file in your folders changes."),
    summary.worktree == null ? "" : t("Its worktree stays at {path}.", { path: summary.worktree.path }),
  ]
    .filter(Boolean)
    .join(" ");
}
