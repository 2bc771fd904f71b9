/**
 * A compaction in words, the same in card, preview and timeline: why and how, what it took out of the model's view, which files were read again,
 * and its summary. Pure.
 */

import { formatChange, formatDollars, formatTokens } from "../../src/format";
import type {
  Checked,
  CompactionItem,
  CompactionRung,
  CompactionTrigger,
  FetchedAgain,
  Held,
  PreviewLine,
  RestoredFile,
} from "../../src/protocol";
import { BY_HAND } from "./fates";

/** Why it was done, in words. */
export const TRIGGERS: Record<CompactionTrigger, string> = {
  manual: "You asked for it",
  threshold: "Context full: compacted automatically",
  idle: "Prepared while you were editing",
  reactive: "The model said that the prompt was too long",
  tool: "The agent asked for it",
  economy: "Compacted early to save money",
  upkeep: "The policy does this before every call",
};

/** How it was done, in words. */
export const RUNGS: Record<CompactionRung, string> = {
  moves: "Older results set aside, no summary needed",
  api: "Summary written by the provider",
  model: "Summary written by the model",
  digest: "Summary written from the log, without a model",
  tail: "Only the newest messages kept",
};

/** The card's first line. */
export function compactionTitle(item: CompactionItem): string {
  switch (item.status) {
    case "in_progress":
      return "Compacting…";
    case "failed":
      return "Compaction failed";
    case "cancelled":
      return item.error === "" ? "Compaction stopped" : "Not compacted";
    case "undone":
      return item.policy === BY_HAND ? "Included again" : "Compaction undone";
    case "completed":
      return item.policy === BY_HAND ? "Excluded" : "Compacted";
  }
}

/** `142k → 38k tokens`; empty while it is not known, and where nothing was changed. */
export function compactionSizes(item: CompactionItem): string {
  return item.tokensAfter == null || item.status === "failed" || item.status === "cancelled"
    ? ""
    : `${formatChange(item.tokensBefore, item.tokensAfter)} tokens`;
}

/** Why, and how, in one line. */
export function compactionReason(item: CompactionItem): string {
  const files = (item.excludedFiles ?? []).join(", ");
  if (files !== "") {
    return item.status === "undone"
      ? `${files} is no longer excluded`
      : `The model no longer sees the text of ${files}, except what it wrote itself`;
  }
  if (item.policy === BY_HAND) {
    return item.status === "undone" ? "It is no longer excluded" : "The model no longer sees what you excluded";
  }
  const why = item.saves == null ? TRIGGERS[item.trigger] : `Compacted early to save about ${formatDollars(item.saves)}`;
  return [why, item.rung == null ? "" : RUNGS[item.rung]].filter(Boolean).join(" · ");
}

/** What was done, as facts for a list. */
export function compactionFacts(item: CompactionItem): string[] {
  if (item.policy === BY_HAND) {
    return [];
  }
  const facts = [
    ...countsInWords(item),
    item.focus === "" ? "" : `Focus: ${item.focus}`,
    item.cost == null ? "" : `Cost: ${formatDollars(item.cost)}`,
  ];
  return facts.filter((fact) => fact !== "");
}

/** Messages, as the panel shows them: prompts, replies in words, results of tools. */
export interface MessageCounts {
  summarised: number;
  cleared: number;
  snipped: number;
}

/** `12 messages summarised`, `1 tool result set aside`: what there is of each. */
export function countsInWords({ summarised, cleared, snipped }: MessageCounts): string[] {
  return [
    counted(summarised, "message summarised", "messages summarised"),
    counted(cleared, "tool result set aside", "tool results set aside"),
    counted(snipped, "message cut from the middle", "messages cut from the middle"),
  ].filter((words) => words !== "");
}

/** Whether a row counts as a message: what only the model is told does not, nor what a compaction left. */
export function isMessage({ role }: Pick<PreviewLine, "role">): boolean {
  return role !== "notice" && role !== "record";
}

export function counted(count: number, one: string, many: string): string {
  return count === 0 ? "" : `${count} ${count === 1 ? one : many}`;
}

export interface Restored {
  /** What the model sees again. */
  again: RestoredFile[];
  /** What it is only told the name of. */
  named: RestoredFile[];
}

/** The files in two lists. */
export function sortRestored(files: readonly RestoredFile[]): Restored {
  return { again: files.filter((file) => !file.notRead), named: files.filter((file) => file.notRead) };
}

/** Notes on files of which the model has all. */
const ALL_OF_IT = new Set(["whole", "without what is in view already"]);

/** `4 files read again`, `4 files read again, 1 of them in part`; empty where none was. */
export function readAgainInWords(files: readonly RestoredFile[]): string {
  const { again } = sortRestored(files);
  const inPart = again.filter(({ note }) => !ALL_OF_IT.has(note)).length;
  if (inPart === 0) {
    return counted(again.length, "file read again", "files read again");
  }
  if (inPart === again.length) {
    return counted(inPart, "file read again in part", "files read again in part");
  }
  return `${again.length} files read again, ${inPart} of them in part`;
}

/** `3 files, 4.1k tokens, $0.02`: what the agent asked its tools for again although it had seen it before. */
export function fetchedAgainInWords({ files, tokens, cost }: FetchedAgain): string {
  const dollars = cost == null ? "" : formatDollars(cost);
  return [counted(files.length, "file", "files"), `${formatTokens(tokens)} tokens`, dollars].filter((words) => words !== "").join(", ");
}

/** `Checked against the 14 messages since it was planned: 9 of 9 paths and 23 of 23 names in view, 2 of them added`; empty of nothing. */
export function checkedInWords({ messages, ahead, paths, names, hashes, added }: Checked): string {
  const held = [share(paths, "path", "paths"), share(names, "name", "names"), share(hashes, "hash", "hashes")].filter(
    (words) => words !== "",
  );
  if (held.length === 0) {
    return "";
  }
  const which = counted(messages, "message", "messages") + (ahead ? " since it was planned" : " that it keeps");
  const more = added === 0 ? "" : `, ${added} of them added`;
  return `Checked against the ${which}: ${listed(held)} in view${more}`;
}

function share({ inView, used }: Held, one: string, many: string): string {
  return used === 0 ? "" : `${inView} of ${used} ${used === 1 ? one : many}`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
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
