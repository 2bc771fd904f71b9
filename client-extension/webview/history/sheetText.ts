/** The preview of a compaction and an epoch of the timeline, in words and numbers. Pure. */

import { formatChange, formatDollars, formatShare, formatTokens } from "../../src/format";
import { dateLanguage, plural, t } from "../../src/l10n";
import type { CompactionWay, Epoch, Fate, FateGroup, ItemFate, Preview, PreviewCost, PreviewLine } from "../../src/protocol";
import { counted, countsInWords, fetchedAgainInWords, isMessage, WAYS, TRIGGERS } from "./compactionText";
import { BY_HAND, EXCLUDED, FATES, type FateWords, GONE } from "./fates";

/** Ullage's own policy; only the others are named. */
const OWN_POLICY = "ullage";

/** How it would be done: the first way that is tried. */
const WAYS_BEFORE: Record<CompactionWay, string> = {
  moves: t("Older results would be set aside, no summary is needed"),
  api: t("The provider would write the summary"),
  model: t("The model would write the summary"),
  program: t("The summary would be written from the log, without a model"),
  note: t("Only the newest messages would stay"),
};

/** `142k → 38k tokens`. */
export function previewSizes({ tokensBefore, tokensAfter }: Preview): string {
  return t("{sizes} tokens", { sizes: formatChange(tokensBefore, tokensAfter) });
}

/** What would be gone and what would stay, for who sees this for the first time; in the words of the card that it would become. */
export function previewInWords({ lines, ...counts }: Pick<Preview, "lines" | "summarised" | "cleared" | "snipped">): string {
  const all = lines.filter(isMessage).length;
  const stay = all - counts.summarised - counts.cleared - counts.snipped;
  const gone = countsInWords(counts).join(t(", ")) || t("Every message stays in view");
  return `${plural(stay, t("{gone}; {count} of {all} stays."), t("{gone}; {count} of {all} stay."), { gone, all })} ${LOSSLESS}`;
}

const LOSSLESS = t("Nothing is deleted: you can undo it, and the model can look up what it no longer sees.");

/** How it would be done, and by whose policy where it is not Ullage's own. */
export function previewWay({ way, policy }: Preview): string {
  return [WAYS_BEFORE[way], policy === OWN_POLICY ? "" : t("policy {policy}", { policy })].filter(Boolean).join(" · ");
}

/** `85% → 23% of the threshold`; empty if there is none. */
export function previewShares({ tokensBefore, tokensAfter, threshold }: Preview): string {
  return threshold > 0
    ? t("{before} → {after} full", { before: formatShare(tokensBefore / threshold), after: formatShare(tokensAfter / threshold) })
    : "";
}

interface CostRow {
  what: string;
  without: string;
  with: string;
}

/** For a table: what each thing costs without the compaction and with it. */
export function costRows(cost: PreviewCost): CostRow[] {
  return [
    { what: t("Writing the summary"), without: "", with: cost.summary === 0 ? t("free") : formatDollars(cost.summary) },
    { what: t("The next request"), without: formatDollars(cost.nextBefore), with: formatDollars(cost.nextAfter) },
    { what: t("Each one after it"), without: formatDollars(cost.laterBefore), with: formatDollars(cost.laterAfter) },
  ];
}

/** What it costs at first, and when that has paid for itself. */
export function breakEven(cost: PreviewCost): string {
  const extra = cost.summary + cost.nextAfter - cost.nextBefore;
  const saved = cost.laterBefore - cost.laterAfter;
  if (extra === 0 && saved === 0) {
    return t("Costs nothing, and saves nothing: this model has no price.");
  }
  if (extra <= 0) {
    return t("Cheaper from the next request on.");
  }
  const more = { extra: formatDollars(extra) };
  const first =
    cost.summary > 0
      ? t("Costs {extra} more at first: the summary, and a request that the provider's cache does not hold yet.", more)
      : t("Costs {extra} more at first: a request that the provider's cache does not hold yet.", more);
  if (saved <= 0) {
    return `${first} ${t("It does not pay for itself: later requests cost no less.")}`;
  }
  const requests = Math.ceil(extra / saved);
  return `${first} ${t("Each later request is {saved} cheaper: paid back after about {requests}.", { saved: formatDollars(saved), requests })}`;
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

interface EpochFact {
  name: string;
  text: string;
}

/** Whether it is in force; empty for the beginning, which always is. */
export function epochState({ status, current, compactionId }: Epoch): string {
  if (status === "undone") {
    return t("undone");
  }
  return current ? t("current") : compactionId == null ? "" : t("in force");
}

/** Each with the word that stands before it. What is not known is left out. */
export function epochFacts(epoch: Epoch): EpochFact[] {
  const facts: EpochFact[] = [
    { name: t("Why"), text: whyOf(epoch) },
    { name: t("When"), text: new Date(epoch.at * 1000).toLocaleString(dateLanguage(), { dateStyle: "medium", timeStyle: "short" }) },
    { name: t("How"), text: howOf(epoch) },
    { name: t("Tokens"), text: sizesOf(epoch) },
    { name: t("Cost"), text: costOf(epoch) },
    {
      name: t("Afterwards"),
      text: epoch.fetchedAgain == null ? "" : t("read again: {fetched}", { fetched: fetchedAgainInWords(epoch.fetchedAgain) }),
    },
  ];
  return facts.filter(({ text }) => text !== "");
}

/** `3 messages summarised`: what its compaction did, as its card says it. Unfolded, this is each of its messages. */
export function foldInWords({ compactionId, policy, summarised, cleared, snipped, excludedFiles }: Epoch): string {
  const counts = { summarised: summarised ?? 0, cleared: cleared ?? 0, snipped: snipped ?? 0 };
  if (compactionId == null) {
    return t("Messages");
  }
  if (policy === BY_HAND) {
    const excluded = counts.summarised + counts.cleared + counts.snipped;
    const messages = counted(excluded, t("{count} message excluded"), t("{count} messages excluded"));
    const files = (excludedFiles ?? []).map((path) => t("{path} excluded", { path }));
    return [...files, messages].filter(Boolean).join(" · ") || t("Messages");
  }
  return countsInWords(counts).join(" · ") || t("Every message stayed in view");
}

/** `7 messages stayed`: how many there are in a part of the list. */
export function groupInWords(group: FateGroup, count: number): string {
  switch (group) {
    case "changed":
      return plural(count, t("{count} message changed"), t("{count} messages changed"));
    case "kept":
      return plural(count, t("{count} message stayed"), t("{count} messages stayed"));
    case "before":
      return plural(count, t("{count} message set aside before"), t("{count} messages set aside before"));
  }
}

/** What became of a message; what the user took out (with one of the compactions `byHand`) has a word of its own. */
export function wordsOf({ fate, compactionId }: ItemFate, byHand: ReadonlySet<string>): FateWords {
  return GONE.has(fate) && compactionId != null && byHand.has(compactionId) ? EXCLUDED : FATES[fate];
}

/** A sentence for each fate that occurs, so that nobody has to know the words. */
export function meaningsOf(fates: readonly ItemFate[], byHand: ReadonlySet<string>): string[] {
  const ordered = countFates(fates).flatMap(({ fate }) => fates.filter((each) => each.fate === fate));
  const said = new Set(ordered.map((fate) => wordsOf(fate, byHand)));
  return [...said].map(({ word, meaning }) =>
    t("{word}: {meaning}.", { word: `${word.charAt(0).toUpperCase()}${word.slice(1)}`, meaning }),
  );
}

function whyOf({ trigger, policy, compactionId, excludedFiles }: Epoch): string {
  if (compactionId == null) {
    return t("The beginning");
  }
  if (policy === BY_HAND) {
    return excludedFiles?.length ? t("You excluded a file") : t("You excluded a message");
  }
  return trigger == null ? "" : TRIGGERS[trigger];
}

function howOf({ way, policy }: Epoch): string {
  if (policy === BY_HAND) {
    return "";
  }
  const own = policy == null || policy === OWN_POLICY;
  return [way == null ? "" : WAYS[way], own ? "" : t("policy {policy}", { policy })].filter(Boolean).join(" · ");
}

function sizesOf({ tokensBefore, tokensAfter }: Epoch): string {
  return tokensBefore == null || tokensAfter == null ? "" : formatChange(tokensBefore, tokensAfter);
}

function costOf({ requests, cost, compactionCost }: Epoch): string {
  const summary =
    compactionCost == null || compactionCost === 0 ? "" : t("{cost} for the summary", { cost: formatDollars(compactionCost) });
  const since =
    requests === 0
      ? t("no request since")
      : cost == null
        ? plural(requests, t("{count} request since"), t("{count} requests since"))
        : plural(requests, t("{cost} for {count} request since"), t("{cost} for {count} requests since"), { cost: formatDollars(cost) });
  return [summary, since].filter(Boolean).join(t(", "));
}
