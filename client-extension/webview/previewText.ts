/** The preview of a compaction in words and numbers. Pure. */

import { formatChange, formatDollars, formatShare, formatTokens } from "../src/format";
import type { CompactionRung, Fate, Preview, PreviewCost, PreviewLine } from "../src/protocol";
import { countsInWords, isMessage } from "./countsText";

/** Ullage's own policy; only the others are named. */
export const OWN_POLICY = "ullage";

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
  return `${formatChange(tokensBefore, tokensAfter)} tokens`;
}

/** What would be gone and what would stay, for who sees this for the first time; in the words of the card that it would become. */
export function previewInWords({ lines, ...counts }: Pick<Preview, "lines" | "summarised" | "cleared" | "snipped">): string {
  const all = lines.filter(isMessage).length;
  const stay = all - counts.summarised - counts.cleared - counts.snipped;
  const gone = countsInWords(counts).join(", ") || "Every message stays in view";
  return `${gone}; ${stay} of ${all} ${stay === 1 ? "stays" : "stay"}. ${LOSSLESS}`;
}

const LOSSLESS = "Nothing is deleted: you can undo it, and the model can look up what it no longer sees.";

/** How it would be done, and by whose policy where it is not Ullage's own. */
export function previewWay({ rung, policy }: Preview): string {
  return [RUNGS_BEFORE[rung], policy === OWN_POLICY ? "" : `policy ${policy}`].filter(Boolean).join(" · ");
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
    { what: "Writing the summary", without: "", with: cost.summary === 0 ? "free" : formatDollars(cost.summary) },
    { what: "The next request", without: formatDollars(cost.nextBefore), with: formatDollars(cost.nextAfter) },
    { what: "Each one after it", without: formatDollars(cost.laterBefore), with: formatDollars(cost.laterAfter) },
  ];
}

/** What it costs at first, and when that has paid for itself. */
export function breakEven(cost: PreviewCost): string {
  const extra = cost.summary + cost.nextAfter - cost.nextBefore;
  const saved = cost.laterBefore - cost.laterAfter;
  if (extra === 0 && saved === 0) {
    return "Costs nothing, and saves nothing: this model has no price.";
  }
  if (extra <= 0) {
    return "Cheaper from the next request on.";
  }
  const summary = cost.summary > 0 ? "the summary, and " : "";
  const first = `Costs ${formatDollars(extra)} more at first: ${summary}a request that the provider's cache does not hold yet.`;
  if (saved <= 0) {
    return `${first} It does not pay for itself: later requests cost no less.`;
  }
  const requests = Math.ceil(extra / saved);
  return `${first} Each later request is ${formatDollars(saved)} cheaper: paid back after about ${requests}.`;
}

const ORDER: readonly Fate[] = ["kept", "pinned", "clipped", "cleared", "snipped", "summarised"];

/** How many lines have which fate, in the order in which they are read: first what stays. */
export function countFates(lines: readonly { fate: Fate }[]): { fate: Fate; count: number }[] {
  return ORDER.map((fate) => ({ fate, count: lines.filter((line) => line.fate === fate).length })).filter(({ count }) => count > 0);
}

/** `5.2k → 41`; one number where nothing changes. */
export function lineSizes({ tokensBefore, tokensAfter }: PreviewLine): string {
  const [before, after] = [formatTokens(tokensBefore), formatTokens(tokensAfter)];
  return tokensBefore === tokensAfter ? before : `${before} → ${after}`;
}
