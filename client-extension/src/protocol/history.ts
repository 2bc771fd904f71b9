/** What becomes of a history: compactions, pins, epochs, searches. Mirrors `server/ullage/lsp/protocol/history.py`; see PROTOCOL.md, "What becomes of the history". */

import type { CompactionTrigger, CompactionWay, FetchedAgain, Optional, RestoredFile } from "./items";

/** What becomes of a message. */
export type Fate = "kept" | "clipped" | "cleared" | "snipped" | "summarised" | "pinned";

/** One part of what the model sees now, and what would become of it. */
export interface PreviewLine {
  itemId?: Optional<string>;
  /** The first three are messages. `record` is what a compaction or an exclusion left. */
  role: "user" | "assistant" | "tool" | "notice" | "record";
  title: string;
  tokensBefore: number;
  tokensAfter: number;
  fate: Fate;
}

/** Dollars for the summary's call, for the very next request, and for each one after it: without a compaction and with one. */
export interface PreviewCost {
  summary: number;
  nextBefore: number;
  nextAfter: number;
  laterBefore: number;
  laterAfter: number;
  /** What the price of the summary rests on, in words. */
  estimate?: Optional<string>;
}

/** What a compaction now would do. */
export interface Preview {
  policy: string;
  way: CompactionWay;
  tokensBefore: number;
  tokensAfter: number;
  threshold: number;
  cost?: Optional<PreviewCost>;
  /** What the program would write. */
  summary: string;
  cleared: number;
  snipped: number;
  summarised: number;
  lines: PreviewLine[];
  restored: RestoredFile[];
  /** Why nothing would change; the rest is empty then. */
  nothing?: Optional<string>;
}

/** What no compaction touches. */
export interface Pins {
  itemIds: string[];
  paths: string[];
}

/** What went on between two compactions. The first one has none before it. */
export interface Epoch {
  number: number;
  at: number;
  current: boolean;
  requests: number;
  compactionId?: Optional<string>;
  status?: Optional<"active" | "undone">;
  trigger?: Optional<CompactionTrigger>;
  way?: Optional<CompactionWay>;
  policy?: Optional<string>;
  tokensBefore?: Optional<number>;
  tokensAfter?: Optional<number>;
  /** Of the compaction itself. */
  compactionCost?: Optional<number>;
  /** Of the requests in it. */
  cost?: Optional<number>;
  restored?: Optional<RestoredFile[]>;
  cleared?: Optional<number>;
  snipped?: Optional<number>;
  summarised?: Optional<number>;
  /** Files that the user took out with its compaction. */
  excludedFiles?: Optional<string[]>;
  /** After its compaction. */
  fetchedAgain?: Optional<FetchedAgain>;
}

/** What became of an item. */
export interface ItemFate {
  itemId: string;
  fate: Fate;
  compactionId?: Optional<string>;
  /** This field and those below are filled in `epochFates` alone. */
  role?: Optional<PreviewLine["role"]>;
  title?: Optional<string>;
  /** The file of a result that was read again in its place. */
  restored?: Optional<string>;
}

/** Of the messages of an epoch: what its compaction did, what was set aside or out of view before, what stayed as it was. */
export type FateGroup = "changed" | "before" | "kept";

/** How many messages each group has, and some of one. */
export type EpochFates = Record<FateGroup, number> & { fates: ItemFate[] };

/** An entry of some session that has the words that were searched for. `excerpt` is the text around them. */
export interface SearchHit {
  sessionId: string;
  sessionTitle: string;
  itemId?: Optional<string>;
  at: number;
  what: string;
  excerpt: string;
}

/** For how long nothing is compacted to save; `none` takes that back. */
export type Postpone = "turn" | "session" | "none";
