/** An epoch in words: why and how it began, what it changed and cost. Pure. */

import { formatChange, formatDollars } from "../src/format";
import type { Epoch, FateGroup, ItemFate } from "../src/protocol";
import { counted, countsInWords } from "./countsText";
import { BY_HAND, EXCLUDED, FATES, GONE, type FateWords } from "./fates";
import { RUNGS, TRIGGERS } from "./items/compactionText";
import { countFates, OWN_POLICY } from "./previewText";

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
