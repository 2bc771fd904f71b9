/** An epoch in words: why and how it began, what it changed and cost. Pure. */

import { formatChange, formatDollars } from "../src/format";
import type { Epoch, Fate, ItemFate } from "../src/protocol";
import { BY_HAND, countedFate, EXCLUDED, FATES, type FateWords } from "./fates";
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

/** `3 summarised · 1 stays, pinned`: what became of its messages. */
export function fatesInWords(fates: readonly ItemFate[], epoch: Epoch): string {
  const counted = countFates(fates).map(({ fate, count }) =>
    wordsOf(fate, epoch) === EXCLUDED ? `${count} ${EXCLUDED.word}` : countedFate(fate, count),
  );
  return `Messages: ${counted.join(" · ")}`;
}

/** What became of a message by this epoch's compaction; what the user took out by hand has a word of its own. */
export function wordsOf(fate: Fate, { policy }: Epoch): FateWords {
  return policy === BY_HAND && fate !== "pinned" ? EXCLUDED : FATES[fate];
}

/** A sentence for each fate that occurs, so that nobody has to know the words. */
export function meaningsOf(fates: readonly ItemFate[], epoch: Epoch): string[] {
  const said = countFates(fates).map(({ fate }) => wordsOf(fate, epoch));
  return [
    ...said.map(({ word, meaning }) => `${word.charAt(0).toUpperCase()}${word.slice(1)}: ${meaning}.`),
    "All other messages stayed as they were.",
  ];
}

function whyOf({ trigger, policy, compactionId }: Epoch): string {
  if (compactionId == null) {
    return "The beginning";
  }
  return policy === BY_HAND ? "You excluded a message" : trigger == null ? "" : TRIGGERS[trigger];
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
  const counted = `${requests} ${requests === 1 ? "request" : "requests"}`;
  const since = requests === 0 ? "no request since" : `${cost == null ? "" : `${formatDollars(cost)} for `}${counted} since`;
  return [summary, since].filter(Boolean).join(", ");
}
