/** The preview of a compaction and an epoch of the timeline, in words and numbers. Pure. */

import { formatChange, formatDollars, formatShare, formatTokens } from "../../src/format";
import type { CompactionRung, Epoch, Fate, FateGroup, ItemFate, Preview, PreviewCost, PreviewLine } from "../../src/protocol";
import { counted, countsInWords, fetchedAgainInWords, isMessage, RUNGS, TRIGGERS } from "./compactionText";
import { BY_HAND, EXCLUDED, FATES, type FateWords, GONE } from "./fates";

/** Ullage's own policy; only the others are named. */
const OWN_POLICY = "ullage";

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

/** `85% → 23% of the threshold`; empty where there is none. */
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

export interface EpochFact {
  name: string;
  text: string;
}

/** Whether it is in force; empty for the beginning, which always is. */
export function epochState({ status, current, compactionId }: Epoch): string {
  if (status === "undone") {
    return "undone";
  }
  return current ? "current" : compactionId == null ? "" : "in force";
}

/** Each with the word that stands before it. What is not known is left out. */
export function epochFacts(epoch: Epoch): EpochFact[] {
  const facts: EpochFact[] = [
    { name: "Why", text: whyOf(epoch) },
    { name: "When", text: new Date(epoch.at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) },
    { name: "How", text: howOf(epoch) },
    { name: "Tokens", text: sizesOf(epoch) },
    { name: "Cost", text: costOf(epoch) },
    { name: "Afterwards", text: epoch.fetchedAgain == null ? "" : `read again: ${fetchedAgainInWords(epoch.fetchedAgain)}` },
  ];
  return facts.filter(({ text }) => text !== "");
}

/** `3 messages summarised`: what its compaction did, as its card says it. Unfolded, this is each of its messages. */
export function foldInWords({ compactionId, policy, summarised, cleared, snipped, excludedFiles }: Epoch): string {
  const counts = { summarised: summarised ?? 0, cleared: cleared ?? 0, snipped: snipped ?? 0 };
  if (compactionId == null) {
    return "Messages";
  }
  if (policy === BY_HAND) {
    const excluded = counts.summarised + counts.cleared + counts.snipped;
    const messages = counted(excluded, "message excluded", "messages excluded");
    const files = (excludedFiles ?? []).map((path) => `${path} excluded`);
    return [...files, messages].filter(Boolean).join(" · ") || "Messages";
  }
  return countsInWords(counts).join(" · ") || "Every message stayed in view";
}

/** `7 messages stayed`: how many there are in a part of the list. */
export function groupInWords(group: FateGroup, count: number): string {
  const messages = `${count} ${count === 1 ? "message" : "messages"}`;
  return { changed: `${messages} changed`, kept: `${messages} stayed`, before: `${messages} set aside before` }[group];
}

/** What became of a message; what the user took out (with one of the compactions `byHand`) has a word of its own. */
export function wordsOf({ fate, compactionId }: ItemFate, byHand: ReadonlySet<string>): FateWords {
  return GONE.has(fate) && compactionId != null && byHand.has(compactionId) ? EXCLUDED : FATES[fate];
}

/** A sentence for each fate that occurs, so that nobody has to know the words. */
export function meaningsOf(fates: readonly ItemFate[], byHand: ReadonlySet<string>): string[] {
  const ordered = countFates(fates).flatMap(({ fate }) => fates.filter((each) => each.fate === fate));
  const said = new Set(ordered.map((fate) => wordsOf(fate, byHand)));
  return [...said].map(({ word, meaning }) => `${word.charAt(0).toUpperCase()}${word.slice(1)}: ${meaning}.`);
}

function whyOf({ trigger, policy, compactionId, excludedFiles }: Epoch): string {
  if (compactionId == null) {
    return "The beginning";
  }
  if (policy === BY_HAND) {
    return excludedFiles?.length ? "You excluded a file" : "You excluded a message";
  }
  return trigger == null ? "" : TRIGGERS[trigger];
}

function howOf({ rung, policy }: Epoch): string {
  if (policy === BY_HAND) {
    return "";
  }
  const own = policy == null || policy === OWN_POLICY;
  return [rung == null ? "" : RUNGS[rung], own ? "" : `policy ${policy}`].filter(Boolean).join(" · ");
}

function sizesOf({ tokensBefore, tokensAfter }: Epoch): string {
  return tokensBefore == null || tokensAfter == null ? "" : formatChange(tokensBefore, tokensAfter);
}

function costOf({ requests, cost, compactionCost }: Epoch): string {
  const summary = compactionCost == null || compactionCost === 0 ? "" : `${formatDollars(compactionCost)} for the summary`;
  const asked = `${requests} ${requests === 1 ? "request" : "requests"}`;
  const since = requests === 0 ? "no request since" : `${cost == null ? "" : `${formatDollars(cost)} for `}${asked} since`;
  return [summary, since].filter(Boolean).join(", ");
}
