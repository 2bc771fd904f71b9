/** The context view in words: kinds, rows, the cache clock and why requests missed the cache. Pure. */

import { durationInWords, formatDollars, formatPart, formatShare, formatTokens, formatTokensExactly } from "../../src/format";
import { plural, t } from "../../src/l10n";
import type { CacheClock, CacheMiss, CacheMissReason, ContextFill, ContextPart, ContextPartKind, Gauge } from "../../src/protocol";
import { savingAhead, whenByItself } from "../../src/session/gauge";
import { visibleLine } from "../../src/visible";

/** What a kind is called, of several, and its icon. */
interface KindWords {
  word: string;
  many: string;
  icon: string;
}

const KINDS: Readonly<Record<ContextPartKind, KindWords>> = {
  system: { word: t("System prompt"), many: t("System prompt"), icon: "settings" },
  server: { word: t("MCP server"), many: t("MCP servers"), icon: "plug" },
  rules: { word: t("Rules"), many: t("Rules"), icon: "law" },
  tool: { word: t("Tool definition"), many: t("Tool definitions"), icon: "tools" },
  summary: { word: t("Summary"), many: t("Summary"), icon: "book" },
  file: { word: t("File"), many: t("Files"), icon: "file" },
  prompt: { word: t("Prompt"), many: t("Prompts"), icon: "account" },
  reply: { word: t("Reply"), many: t("Replies"), icon: "comment" },
  call: { word: t("Tool call"), many: t("Tool calls"), icon: "terminal" },
  report: { word: t("Report of a sub-agent"), many: t("Reports of sub-agents"), icon: "hubot" },
  image: { word: t("Image"), many: t("Images"), icon: "file-media" },
  command: { word: t("Running command"), many: t("Running commands"), icon: "server-process" },
  hook: { word: t("Hook"), many: t("Hooks"), icon: "zap" },
  notice: { word: t("Notice"), many: t("Notices"), icon: "info" },
  rest: { word: t("Counted by the API alone"), many: t("Counted by the API alone"), icon: "question" },
};

/** Other kinds may come with a later server. */
export function kindWords(kind: string): KindWords {
  return (KINDS as Partial<Record<string, KindWords>>)[kind] ?? { word: kind, many: kind, icon: "circle-outline" };
}

/** Its title in one line; its kind where that says all. */
export function partTitle({ kind, title }: Pick<ContextPart, "kind" | "title">): string {
  return visibleLine(title) || kindWords(kind).word;
}

/** What stands below the title of a part. */
export function partFacts(part: ContextPart, { threshold, readPrice, writePrice }: ContextFill): string[] {
  const price = part.sent ? readPrice : writePrice;
  return [
    t("{share} of the threshold", { share: formatPart(part.tokens, threshold) }),
    part.turnsAgo == null
      ? ""
      : part.turnsAgo === 0
        ? t("this turn")
        : plural(part.turnsAgo, t("{count} turn ago"), t("{count} turns ago")),
    price == null ? "" : priced(part, price),
    part.touchedSince === false ? t("file not touched since") : "",
    part.excluded === true ? t("excluded") : "",
  ].filter(Boolean);
}

function priced(part: ContextPart, price: number): string {
  const dollars = formatDollars(part.tokens * price);
  return part.sent ? t("{dollars} a request", { dollars }) : t("{dollars} with the next request", { dollars });
}

/** What stands above all parts: how full it is, and what else the gauge knows. */
export function fillInWords(fill: ContextFill, gauge: Gauge): string[] {
  return [
    t("{used} of {threshold} tokens. The model's window is {size}.", {
      used: formatTokensExactly(fill.used),
      threshold: formatTokensExactly(fill.threshold),
      size: formatTokensExactly(fill.size),
    }),
    [
      gauge.estimated && fill.estimatedTokens > 0
        ? t("{tokens} of these are estimated until the server has counted them", { tokens: formatTokensExactly(fill.estimatedTokens) })
        : "",
      gauge.cacheHitRate == null ? "" : t("{share} read from cache", { share: formatShare(gauge.cacheHitRate) }),
      gauge.cost == null ? "" : t("{cost} so far", { cost: formatDollars(gauge.cost) }),
      gauge.frees > 0 ? t("Compacting would free about {tokens}", { tokens: formatTokens(gauge.frees) }) : t("Almost nothing to free"),
      savingAhead(gauge) ?? "",
      whenByItself(gauge),
    ]
      .filter(Boolean)
      .join(" · "),
  ];
}

/** What it does to clear a result: what that frees, and what it costs once while the prompt cache is warm. */
export function clearInWords(frees: number, cost: number | null | undefined, isWarm: boolean): string {
  const tokens = formatTokens(frees);
  return isWarm && cost != null && cost > 0
    ? t(
        "Clear this result: frees about {tokens}, and the next prompt costs about {price} more. The agent can recall it; undo brings it back",
        {
          tokens,
          price: formatDollars(cost),
        },
      )
    : t("Clear this result: frees about {tokens}. The agent can recall it; undo brings it back", { tokens });
}

/** `3:40`. */
function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Seconds that the prompt cache still lives; 0 if nothing in it serves the next request. */
export function warmFor({ startedAt, lives }: CacheClock, now: number): number {
  return startedAt == null ? 0 : Math.max(0, startedAt + lives - now);
}

/** How the prompt cache stands, and what the next prompt and a compaction cost. `now` is in Unix seconds. */
export function cacheInWords(cache: CacheClock, now: number): string[] {
  const left = warmFor(cache, now);
  const isFree = cache.coldCost === 0; // as with the practice model
  const warm = cache.warmCost == null || isFree ? undefined : formatDollars(cache.warmCost);
  const cold = cache.coldCost == null || isFree ? undefined : formatDollars(cache.coldCost);
  const compact = left > 0 ? cache.compactWarmCost : cache.compactColdCost;
  const next =
    left > 0
      ? warm === undefined || cold === undefined
        ? t("The prompt cache is warm for {time}", { time: clock(left) })
        : t("Warm for {time}: the next prompt costs about {warm}, after that {cold}", { time: clock(left), warm, cold })
      : cold === undefined
        ? t("The prompt cache is cold")
        : t("The prompt cache is cold: the next prompt costs about {cold}", { cold });
  return [next, compact == null || compact === 0 ? "" : t("Compacting now costs about {price}", { price: formatDollars(compact) })].filter(
    Boolean,
  );
}

const REASONS: Readonly<Record<CacheMissReason, string>> = {
  model: t("another model was asked"),
  effort: t("another effort was asked for"),
  system: t("the system prompt changed"),
  rules: t("the rules changed"),
  tools: t("the tools changed"),
  compaction: t("the context was compacted"),
  undone: t("a compaction was undone"),
  redone: t("a compaction was made again"),
  excluded: t("something was excluded"),
  expired: t("the cache had gone cold"),
  evicted: t("nothing changed: the API had let go of it"),
};

/** What a request that missed the cache sent anew, and why. */
export function missInWords({ tokens, cost, reasons, idle }: CacheMiss): { head: string; why: string } {
  const sent = formatTokens(tokens);
  const why = reasons.map((reason) => {
    const word = (REASONS as Partial<Record<string, string>>)[reason] ?? reason;
    return reason === "expired" ? t("{what} ({pause} after the request before)", { what: word, pause: durationInWords(idle) }) : word;
  });
  return {
    head: cost == null ? t("{sent} sent anew", { sent }) : t("{sent} sent anew, {price} more", { sent, price: formatDollars(cost) }),
    why: why.join("; "),
  };
}

/** `2 of 40 requests missed the cache`; undefined if none did. */
export function missesInWords({ missed, requests }: ContextFill): string | undefined {
  return missed === 0
    ? undefined
    : plural(missed, t("{count} of {requests} requests missed the cache"), t("{count} of {requests} requests missed the cache"), {
        requests,
      });
}
