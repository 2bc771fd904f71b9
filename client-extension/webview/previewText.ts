/** The preview of a compaction in words and numbers. Pure. */

import { formatDollars, formatShare, formatTokens } from "../src/format";
import type { CompactionRung, Fate, Preview, PreviewCost, PreviewLine } from "../src/protocol";

/** How it would be done: the first way that is tried. */
export const RUNGS_BEFORE: Record<CompactionRung, string> = {
  moves: "Older results would be set aside, no summary is needed",
  api: "The provider would write the summary",
  model: "The model would write the summary",
  digest: "The summary would be written from the log, without a model",
  tail: "Only the newest messages would stay",
};

/** `142k → 38k tokens`. */
export function previewSizes({ tokensBefore, tokensAfter }: Preview): string {
  return `${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens`;
}

/** `85% → 23% of the line`; empty where there is none. */
export function previewShares({ tokensBefore, tokensAfter, line }: Preview): string {
  return line > 0 ? `${formatShare(tokensBefore / line)} → ${formatShare(tokensAfter / line)} full` : "";
}

export interface CostRow {
  what: string;
  without: string;
  with: string;
}

/** For a table: what each thing costs without the compaction and with it. */
export function costRows(cost: PreviewCost): CostRow[] {
  return [
    { what: "The summary", without: "", with: cost.summary === 0 ? "free" : formatDollars(cost.summary) },
    { what: "The next request", without: formatDollars(cost.nextBefore), with: formatDollars(cost.nextAfter) },
    { what: "Each later one", without: formatDollars(cost.laterBefore), with: formatDollars(cost.laterAfter) },
  ];
}

/** When it has paid for itself. */
export function breakEven(cost: PreviewCost): string {
  const extra = cost.summary + cost.nextAfter - cost.nextBefore;
  const saved = cost.laterBefore - cost.laterAfter;
  if (extra <= 0) {
    return "Cheaper from the next request on";
  }
  if (saved <= 0) {
    return "It does not pay for itself: later requests cost no less";
  }
  const requests = Math.ceil(extra / saved);
  return `Has paid for itself after about ${requests} later ${requests === 1 ? "request" : "requests"}`;
}

const ORDER: readonly Fate[] = ["kept", "pinned", "clipped", "cleared", "snipped", "summarised"];

/** How many lines have which fate, in the order in which they are read: first what stays. */
export function countFates(lines: readonly PreviewLine[]): { fate: Fate; count: number }[] {
  return ORDER.map((fate) => ({ fate, count: lines.filter((line) => line.fate === fate).length })).filter(({ count }) => count > 0);
}

/** `5.2k → 41`; one number where nothing changes. */
export function lineSizes({ tokensBefore, tokensAfter }: PreviewLine): string {
  const [before, after] = [formatTokens(tokensBefore), formatTokens(tokensAfter)];
  return tokensBefore === tokensAfter ? before : `${before} → ${after}`;
}
