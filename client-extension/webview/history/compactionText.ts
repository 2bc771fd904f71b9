/**
 * A compaction in words, the same in card, preview and timeline: why and how, what it took out of the model's view, which files were read again,
 * and its summary. Pure.
 */

import { formatChange, formatDollars, formatTokens } from "../../src/format";
import { plural, t } from "../../src/l10n";
import type {
  Checked,
  CompactionItem,
  CompactionWay,
  CompactionTrigger,
  FetchedAgain,
  Held,
  PreviewLine,
  RestoredFile,
} from "../../src/protocol";
import { BY_HAND } from "./fates";

/** Why it was done, in words. */
export const TRIGGERS: Record<CompactionTrigger, string> = {
  manual: t("You asked for it"),
  threshold: t("Context full: compacted automatically"),
  idle: t("Prepared while you were editing"),
  reactive: t("The model said that the prompt was too long"),
  tool: t("The agent asked for it"),
  economy: t("Compacted early to save money"),
  upkeep: t("The policy does this before every call"),
};

/** How it was done, in words. */
export const WAYS: Record<CompactionWay, string> = {
  moves: t("Older results set aside, no summary needed"),
  api: t("Summary written by the provider"),
  model: t("Summary written by the model"),
  program: t("Summary written from the log, without a model"),
  note: t("Only the newest messages kept"),
};

/** The card's first line. */
export function compactionTitle(item: CompactionItem): string {
  switch (item.status) {
    case "in_progress":
      return t("Compacting…");
    case "failed":
      return t("Compaction failed");
    case "cancelled":
      return item.error === "" ? t("Compaction stopped") : t("Not compacted");
    case "undone":
      return item.policy === BY_HAND ? t("Included again") : t("Compaction undone");
    case "completed":
      return item.policy === BY_HAND ? t("Excluded") : t("Compacted");
  }
}

/** `142k → 38k tokens`; empty while it is not known, and where nothing was changed. */
export function compactionSizes(item: CompactionItem): string {
  return item.tokensAfter == null || item.status === "failed" || item.status === "cancelled"
    ? ""
    : t("{sizes} tokens", { sizes: formatChange(item.tokensBefore, item.tokensAfter) });
}

/** Why, and how, in one line. */
export function compactionReason(item: CompactionItem): string {
  const files = (item.excludedFiles ?? []).join(", ");
  if (files !== "") {
    return item.status === "undone"
      ? t("{files} is no longer excluded", { files })
      : t("The model no longer sees the text of {files}, except what it wrote itself", { files });
  }
  if (item.policy === BY_HAND) {
    return item.status === "undone" ? t("It is no longer excluded") : t("The model no longer sees what you excluded");
  }
  const why =
    item.saves == null ? TRIGGERS[item.trigger] : t("Compacted early to save about {dollars}", { dollars: formatDollars(item.saves) });
  return [why, item.way == null ? "" : WAYS[item.way]].filter(Boolean).join(" · ");
}

/** What was done, as facts for a list. */
export function compactionFacts(item: CompactionItem): string[] {
  if (item.policy === BY_HAND) {
    return [];
  }
  const facts = [
    ...countsInWords(item),
    item.focus === "" ? "" : t("Focus: {focus}", { focus: item.focus }),
    item.cost == null ? "" : t("Cost: {cost}", { cost: formatDollars(item.cost) }),
  ];
  return facts.filter((fact) => fact !== "");
}

/** Messages, as the panel shows them: prompts, replies in words, results of tools. */
interface MessageCounts {
  summarised: number;
  cleared: number;
  snipped: number;
}

/** `12 messages summarised`, `1 tool result set aside`: what there is of each. */
export function countsInWords({ summarised, cleared, snipped }: MessageCounts): string[] {
  return [
    counted(summarised, t("{count} message summarised"), t("{count} messages summarised")),
    counted(cleared, t("{count} tool result set aside"), t("{count} tool results set aside")),
    counted(snipped, t("{count} message cut from the middle"), t("{count} messages cut from the middle")),
  ].filter((words) => words !== "");
}

/** Whether a row counts as a message: what only the model is told does not, nor what a compaction left. */
export function isMessage({ role }: Pick<PreviewLine, "role">): boolean {
  return role !== "notice" && role !== "record";
}

/** As `plural`; empty of nothing. */
export function counted(count: number, one: string, other: string): string {
  return count === 0 ? "" : plural(count, one, other);
}

interface Restored {
  /** What the model sees again. */
  again: RestoredFile[];
  /** What it is only told the name of. */
  named: RestoredFile[];
}

/** The files in two lists. */
export function sortRestored(files: readonly RestoredFile[]): Restored {
  return { again: files.filter((file) => !file.notRead), named: files.filter((file) => file.notRead) };
}

/** Notes on files of which the model has all: the server's own words, as the extension says them. */
const ALL_OF_IT = new Set([t("whole"), t("without what is in view already")]);

/** `4 files read again`, `4 files read again, 1 of them in part`; empty if none was. */
export function readAgainInWords(files: readonly RestoredFile[]): string {
  const { again } = sortRestored(files);
  const inPart = again.filter(({ note }) => !ALL_OF_IT.has(note)).length;
  if (inPart === 0) {
    return counted(again.length, t("{count} file read again"), t("{count} files read again"));
  }
  if (inPart === again.length) {
    return counted(inPart, t("{count} file read again in part"), t("{count} files read again in part"));
  }
  return plural(again.length, t("{count} file read again"), t("{count} files read again, {inPart} of them in part"), { inPart });
}

/** `3 files, 4.1k tokens, $0.02`: what the agent asked its tools for again although it had seen it before. */
export function fetchedAgainInWords({ files, tokens, cost }: FetchedAgain): string {
  const dollars = cost == null ? "" : formatDollars(cost);
  return [counted(files.length, t("{count} file"), t("{count} files")), t("{tokens} tokens", { tokens: formatTokens(tokens) }), dollars]
    .filter((words) => words !== "")
    .join(", ");
}

/** `Checked: of what the newest 14 messages use, 9 of 9 paths and 23 of 23 names are in view, 2 of them added`; empty of nothing. */
export function checkedInWords({ messages, paths, names, hashes, added }: Checked): string {
  const held = [
    share(paths, t("{inView} of {count} path"), t("{inView} of {count} paths")),
    share(names, t("{inView} of {count} name"), t("{inView} of {count} names")),
    share(hashes, t("{inView} of {count} hash"), t("{inView} of {count} hashes")),
  ].filter((words) => words !== "");
  if (held.length === 0) {
    return "";
  }
  const used = plural(messages, t("Checked: of what the newest message uses"), t("Checked: of what the newest {count} messages use"));
  const all = held.length < 2 ? held.join("") : t("{words} and {last}", { words: held.slice(0, -1).join(", "), last: held.at(-1) ?? "" });
  return added === 0
    ? t("{used}, {held} are in view", { used, held: all })
    : t("{used}, {held} are in view, {added} of them added", { used, held: all, added });
}

function share({ inView, used }: Held, one: string, other: string): string {
  return used === 0 ? "" : plural(used, one, other, { inView });
}

/**
 * Names of things in code stand in a record as they are: an underscore in them means no emphasis.
 *
 * A record's lines are short, and a folder's name may follow a list at once. Markdown would take it for a part of the list's last entry: an
 * empty line between them keeps it apart.
 */
export function recordMarkdown(text: string): string {
  const apart = text.replace(/^([ \t]*[-*] .*\n)(?=[^\s*-])/gm, "$1\n");
  return apart
    .split(/(`[^`\n]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/_/g, "\\_")))
    .join("");
}
