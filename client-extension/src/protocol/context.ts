/** The context view: what fills the window, and how the prompt cache stands. Mirrors `server/ullage/lsp/protocol/context.py`; see PROTOCOL.md, "What fills the window". */

import type { Optional } from "./items";

/** Of a part of the context: a tool's definition, a call with its result, what the gauge counts and no part shows (`rest`), and so on. */
export type ContextPartKind = FixedKind | "summary" | "file" | "prompt" | "reply" | "call" | "report" | "image" | ToldKind | "rest";

/** Of what precedes the messages, and `rules` that were met on the way. */
type FixedKind = "system" | "server" | "rules" | "tool";

/** Of what the program tells the model: of commands that go on, what hooks say, and all else. */
type ToldKind = "command" | "hook" | "notice";

/** One part of what the next request holds. */
export interface ContextPart {
  kind: ContextPartKind;
  /** Empty if the kind says all. */
  title: string;
  tokens: number;
  /** The next request reads it from the prompt cache, while that is warm. */
  sent: boolean;
  itemId?: Optional<string>;
  /** Absent of what precedes the messages. */
  turnsAgo?: Optional<number>;
  /** The files whose text stands in it. */
  paths?: Optional<string[]>;
  /** Whether a later call in view read or changed one of them. */
  touchedSince?: Optional<boolean>;
  pinned?: Optional<boolean>;
  /** A placeholder stands for what was excluded. */
  excluded?: Optional<boolean>;
  /** Of a result that can be cleared: tokens that this frees. */
  clearFrees?: Optional<number>;
  /** Dollars that the next request then takes more, while the cache is warm: what comes after the result is sent anew. */
  clearCost?: Optional<number>;
}

/** All parts of one kind. */
export interface ContextKind {
  kind: ContextPartKind;
  count: number;
  tokens: number;
}

/** How long the prompt cache stays warm, and what that is worth. */
export interface CacheClock {
  /** Seconds from `startedAt` on. */
  lives: number;
  /** Tokens of the next request: from the cache while it is warm, and sent anew. */
  read: number;
  anew: number;
  /** When the newest request was sent (Unix seconds); absent where nothing of it serves the next one. */
  startedAt?: Optional<number>;
  /** Dollars of the next request's input. */
  warmCost?: Optional<number>;
  coldCost?: Optional<number>;
  compactWarmCost?: Optional<number>;
  compactColdCost?: Optional<number>;
}

/** Why a request could not be read from the prompt cache. */
export type CacheMissReason = AskedOtherwise | "compaction" | "undone" | "redone" | "excluded" | "expired" | "evicted";

/** What was asked for, or what precedes the messages, was another. */
type AskedOtherwise = "model" | "effort" | "system" | "rules" | "tools";

/** A request that missed the prompt cache. */
export interface CacheMiss {
  at: number;
  /** Sent anew for that. */
  tokens: number;
  reasons: CacheMissReason[];
  /** Seconds since the request before. */
  idle: number;
  itemId?: Optional<string>;
  /** Dollars more for that. */
  cost?: Optional<number>;
  /** What was changed, as the lines of a diff. */
  change?: Optional<string>;
}

/** Which parts are asked for. */
export interface ContextQuery {
  order?: Optional<"largest" | "newest" | "oldest">;
  ofKind?: Optional<ContextPartKind>;
  only?: Optional<"pinned" | "excluded" | "untouched" | "new">;
  text?: Optional<string>;
  offset?: Optional<number>;
  limit?: Optional<number>;
  /** What the user is typing: it is counted with the next request. */
  draft?: Optional<string>;
}

/** The tokens of all parts together are `used`, and so are those of `kinds`. */
export interface ContextFill {
  used: number;
  threshold: number;
  size: number;
  estimatedTokens: number;
  kinds: ContextKind[];
  /** Empty behind the first page, as `misses`. */
  largest: ContextPart[];
  /** How many parts there are of those that were asked for. */
  total: number;
  parts: ContextPart[];
  cache: CacheClock;
  requests: number;
  /** Of `requests`, those that missed the cache. */
  missed: number;
  misses: CacheMiss[];
  /** Dollars for a token that is read from the cache, and for one that is sent anew. */
  readPrice?: Optional<number>;
  writePrice?: Optional<number>;
}
