/** A compaction in words. Pure. */

import { formatChange, formatDollars } from "../../src/format";
import type { CompactionItem, CompactionRung, CompactionTrigger } from "../../src/protocol";
import { countsInWords } from "../countsText";
import { BY_HAND } from "../fates";

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
      return "Compaction stopped";
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
