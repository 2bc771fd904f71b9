/** What runs in the background, in words: how long, how it ended, what is lost when it is ended. No VS Code and no DOM in here. */

import { durationInWords } from "../format";
import { plural, t } from "../l10n";
import type { RunningCommand } from "../protocol";
import { type ServerStatus, settlesWithin } from "../server/answers";
import { visibleLine } from "../visible";

/** Those that have not ended. */
export function stillRunning(commands: readonly RunningCommand[] | null | undefined): readonly RunningCommand[] {
  return (commands ?? []).filter(({ end }) => end == null);
}

/** `2 commands run`, `1 command failed`; what one says is the business of `lineOf`. */
export function runningInWords(commands: readonly RunningCommand[]): string {
  const runs = stillRunning(commands).length;
  const failed = commands.filter((each) => each.failed === true).length;
  const ended = commands.length - runs - failed;
  return [
    runs > 0 && plural(runs, t("{count} command runs"), t("{count} commands run")),
    failed > 0 && plural(failed, t("{count} command failed"), t("{count} commands failed")),
    ended > 0 && plural(ended, t("{count} command ended"), t("{count} commands ended")),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Its line, as it is seen. */
export function lineOf({ command }: RunningCommand): string {
  return visibleLine(command);
}

/** How long it runs, or ran. `now` is Unix seconds. */
export function timeOf({ began, endedAt }: RunningCommand, now: number): string {
  const seconds = Math.max(0, (endedAt ?? now) - began);
  const hours = Math.floor(seconds / 3600);
  return hours > 0
    ? t("{hours} h {minutes} min", { hours, minutes: Math.floor((seconds % 3600) / 60) })
    : durationInWords(seconds) || t("{rest} s", { rest: 0 });
}

/** How it ended; empty while it runs. */
export function endInWords({ end, exitCode }: RunningCommand): string {
  switch (end ?? undefined) {
    case undefined:
      return "";
    case "exited":
      return exitCode == null || exitCode === 0 ? t("ended") : t("ended with exit code {code}", { code: exitCode });
    case "late":
      return t("ended at its time limit");
    case "stopped":
      return t("stopped");
    case "killed":
      return t("ended by a signal");
    default:
      return t("could not be run");
  }
}

/** What a user who looks elsewhere is told of one that failed. */
export function failureInWords(command: RunningCommand): string {
  const line = lineOf(command);
  return t("In the background, {line} {ended}.", { line, ended: endInWords(command) });
}

/** Milliseconds that the list may take where it is only counted in it. */
const COUNT_LIMIT = 2_000;

/**
 * How many commands of all sessions end with the server. One that starts runs none. One that does not answer in time is not waited for: it may never
 * answer, and is what the user wants to restart; then it counts what is `seen` to run.
 */
export async function countThatEnd(
  state: ServerStatus["state"],
  list: () => Promise<{ sessions: readonly { figures?: { running?: number | null } | null }[] }>,
  seen: number,
): Promise<number> {
  if (state !== "running") {
    return 0;
  }
  const counted = list().then(
    ({ sessions }) => sessions.reduce((sum, { figures }) => sum + (figures?.running ?? 0), 0),
    () => 0, // it is gone
  );
  return (await settlesWithin(counted, COUNT_LIMIT)) ? counted : seen;
}

/** What happens to the commands, `count` of them, when their session is closed or deleted; empty if there are none. */
export function endsWith(count: number | null | undefined): string {
  const counted = count ?? 0;
  return counted === 0
    ? ""
    : plural(
        counted,
        t("{count} command runs in the background: it is stopped, with everything that it started."),
        t("{count} commands run in the background: they are stopped, with everything that they started."),
      );
}

/** The name of the document that shows its output: its id and the first word of its line that can stand in a name. */
export function fileNameOfCommand(id: string, command: RunningCommand | undefined): string {
  const words = command === undefined ? "" : lineOf(command).replace(/[^\p{L}\p{N}._-]+/gu, " ");
  return [id, words.trim().slice(0, 40).trim()].filter(Boolean).join(" ");
}

/** Remembers which failures are known, so that each is told once. */
export class Failures {
  private readonly known = new Set<string>();

  /** Those of a session that is shown anew are no news. */
  know(sessionId: string, commands: readonly RunningCommand[]): void {
    this.news(sessionId, commands);
  }

  /** Those that were not known. */
  news(sessionId: string, commands: readonly RunningCommand[]): readonly RunningCommand[] {
    const fresh = commands.filter(({ id, failed }) => failed === true && !this.known.has(`${sessionId} ${id}`));
    fresh.forEach(({ id }) => this.known.add(`${sessionId} ${id}`));
    return fresh;
  }
}
