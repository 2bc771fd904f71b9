/** Values that tests begin with; each test changes what it is about. */

import type {
  ContextFill,
  ContextPart,
  AssistantItem,
  CompactionItem,
  Epoch,
  EpochFates,
  Gauge,
  ItemFate,
  Preview,
  PreviewLine,
  Snapshot,
  ToolCallItem,
  Update,
  NextCompaction,
  UpdateParams,
  UserItem,
} from "../../client-extension/src/protocol";

const AT_THE_THRESHOLD: NextCompaction = { why: "threshold", at: 167_000 };

export function gauge(changes: Partial<Gauge> = {}): Gauge {
  const categories = [
    { name: "system", tokens: 3_000 },
    { name: "tool results: bash", tokens: 67_000 },
  ];
  const rest = {
    cacheHitRate: 0.931,
    cost: 0.4172,
    frees: 40_000,
    freesCost: 0.05,
    next: AT_THE_THRESHOLD,
    policy: "ullage",
    measure: "usage" as const,
  };
  return { used: 70_000, threshold: 167_000, size: 200_000, estimated: false, level: "normal", categories, ...rest, ...changes };
}

export function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  const model = { name: "practice", displayName: "Practice model", practice: true, limitsSource: "practice" };
  return { sessionId: "s1", seq: 0, title: "", state: "idle", items: [], earlier: 0, plan: [], gauge: gauge(), model, ...changes };
}

export function update(seq: number, change: Update, sessionId = "s1"): UpdateParams {
  return { sessionId, seq, update: change };
}

export function user(id: string, changes: Partial<UserItem> = {}): UserItem {
  return { kind: "user", id, at: 1, text: `prompt ${id}`, attachments: [], queued: false, ...changes };
}

export function assistant(id: string, text: string): AssistantItem {
  return { kind: "assistant", id, at: 1, text };
}

export function toolCall(id: string, changes: Partial<ToolCallItem> = {}): ToolCallItem {
  const fields = { name: "bash", title: "$ ls", toolKind: "execute", status: "running", input: "", output: "" } as const;
  return { kind: "toolCall", id, at: 1, ...fields, ...changes };
}

export function compaction(id: string, changes: Partial<CompactionItem> = {}): CompactionItem {
  const counts = { tokensBefore: 142_000, tokensAfter: 38_000, cleared: 0, snipped: 0, summarised: 0 };
  const texts = { summary: "", restored: [], focus: "", skipped: [], error: "" };
  return { kind: "compaction", id, at: 1, status: "completed", trigger: "manual", way: "model", ...counts, ...texts, ...changes };
}

export function epoch(number: number, changes: Partial<Epoch> = {}): Epoch {
  const made = { compactionId: `c${number}`, status: "active", trigger: "manual", way: "model", policy: "ullage" } as const;
  const sizes = { tokensBefore: 142_000, tokensAfter: 38_000, cleared: 0, snipped: 0, summarised: 12 };
  return { number, at: 1_795_200_000, current: false, requests: 3, ...(number === 1 ? {} : { ...made, ...sizes }), ...changes };
}

export function fate(itemId: string, changes: Partial<ItemFate> = {}): ItemFate {
  return { itemId, fate: "summarised", compactionId: "c2", role: "user", title: `title of ${itemId}`, ...changes };
}

/** A page of `epochFates` that is all there is of its group. */
export function epochFates(fates: ItemFate[], changes: Partial<EpochFates> = {}): EpochFates {
  return { changed: fates.length, before: 0, kept: 0, fates, ...changes };
}

export function previewLine(itemId: string, changes: Partial<PreviewLine> = {}): PreviewLine {
  return { itemId, role: "tool", title: `title of ${itemId}`, tokensBefore: 5_210, tokensAfter: 41, fate: "cleared", ...changes };
}

export function preview(changes: Partial<Preview> = {}): Preview {
  const sizes = { tokensBefore: 142_000, tokensAfter: 38_000, threshold: 167_000, cleared: 0, snipped: 0, summarised: 0 };
  return {
    policy: "ullage",
    way: "model",
    ...sizes,
    summary: "## What the user asked for",
    lines: [previewLine("t1")],
    restored: [],
    ...changes,
  };
}

/** What `ullage/session/context` answers: one part of each kind that can be acted on, and one that cannot. */
export function contextFill(changes: Partial<ContextFill> = {}): ContextFill {
  const parts: ContextPart[] = [
    {
      kind: "call",
      title: "Read src/tank.py",
      tokens: 5_000,
      sent: true,
      itemId: "t1",
      turnsAgo: 3,
      paths: ["src/tank.py"],
      touchedSince: false,
    },
    { kind: "system", title: "", tokens: 1_000, sent: true },
  ];
  const kinds = parts.map(({ kind, tokens }) => ({ kind, count: 1, tokens }));
  const cache = { lives: 300, read: 5_900, anew: 100, startedAt: 1_000, warmCost: 0.02, coldCost: 1.1 };
  const misses = [{ at: 900, tokens: 900, idle: 12, reasons: ["rules" as const], itemId: "r1.0", change: "-Be brief.\n+Be exact." }];
  const sizes = { used: 6_000, threshold: 100_000, size: 200_000, estimatedTokens: 0, requests: 9, missed: 1 };
  return { ...sizes, kinds, largest: parts, total: parts.length, parts, cache, misses, ...changes };
}
