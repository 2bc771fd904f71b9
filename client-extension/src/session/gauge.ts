/**
 * The gauge in words: how full the context is, where it compacts and why, and what it is made of. The status bar and the panel say the same.
 *
 * No VS Code and no DOM in here: `indicators.ts` puts what `render` gives into a status bar item.
 */

import { APPROVAL_KEYS, approvalsInWords } from "./approvals";
import { formatDollars, formatPart, formatShare, formatTokens, formatTokensExactly, keyInWords } from "../format";
import type { EarlySaving, Gauge, Postpone, SessionState } from "../protocol";
import type { ServerStatus } from "../server/answers";

export interface GaugeView {
  text: string;
  /** Markdown with theme icons and links to commands. */
  tooltip: string;
  background?: "warning" | "error";
  /** What a screen reader says instead of the text. */
  ariaLabel: string;
  command: GaugeCommand;
}

/** The commands that the item and its tooltip may run. */
export const GAUGE_COMMANDS = [
  "ullage.compact",
  "ullage.previewCompaction",
  "ullage.postponeCompaction",
  "ullage.showTimeline",
  "ullage.focus",
  "ullage.openSettings",
  "ullage.restartServer",
  "ullage.showLogs",
  "ullage.nextApproval",
] as const;
export type GaugeCommand = (typeof GAUGE_COMMANDS)[number];

/**
 * What the status bar shows. `gauge` is undefined until a session is open; `approvals` says how many questions wait for the user; `isMac` which
 * keys answer them.
 */
export function render(gauge: Gauge | undefined, state: SessionState, server: ServerStatus, approvals = 0, isMac = false): GaugeView {
  if (server.state === "stopped") {
    return renderStopped(server);
  }
  if (server.state !== "running" || gauge === undefined) {
    return renderStarting(server);
  }
  const percent = `${gauge.estimated ? "~" : ""}${formatShare(shareOf(gauge))}`;
  const left = formatTokens(Math.max(0, gauge.line - gauge.used));
  const compacting = state === "compacting";
  if (approvals > 0) {
    const words = approvalsInWords(approvals);
    return {
      text: `$(bell-dot) ${percent} · approve`,
      tooltip: `**${words}** · ${link("Show", "ullage.nextApproval")}\n\n${renderKeys(isMac)}\n\n${renderTooltip(gauge, compacting)}`,
      background: "warning",
      ariaLabel: `Ullage: ${words}, context ${percent} full. Activate to show`,
      command: "ullage.nextApproval",
    };
  }
  return {
    text: compacting ? `$(sync~spin) ${percent} · compacting` : `$(dashboard) ${percent} · ${left} left`,
    tooltip: renderTooltip(gauge, compacting),
    background: gauge.level === "normal" ? undefined : gauge.level,
    ariaLabel: compacting
      ? `Ullage: compacting the conversation, context ${percent} full`
      : `Ullage: context ${gauge.estimated ? "about " : ""}${formatShare(shareOf(gauge))} full, ${left} tokens left. Activate to compact`,
    command: compacting ? "ullage.focus" : "ullage.compact",
  };
}

/** Used over line; 0 where there is no line. */
export function shareOf(gauge: Gauge): number {
  return gauge.line > 0 ? gauge.used / gauge.line : 0;
}

function renderKeys(isMac: boolean): string {
  const { allow, refuse, next } = APPROVAL_KEYS.anywhere;
  const key = (each: string) => `\`${keyInWords(each, isMac)}\``;
  return `${key(allow)} allows once, ${key(refuse)} refuses, ${key(next)} shows the next`;
}

function renderStopped(server: ServerStatus): GaugeView {
  const message = server.message ?? "The Ullage server is not running";
  return {
    text: "$(error) Ullage stopped",
    tooltip: `**Ullage is stopped**\n\n${escapeMarkdown(message)}\n\n${link("Restart", "ullage.restartServer")} · ${link("Show logs", "ullage.showLogs")}`,
    background: "error",
    ariaLabel: `Ullage: ${message}. Activate to restart`,
    command: "ullage.restartServer",
  };
}

function renderStarting(server: ServerStatus): GaugeView {
  const message = server.message ?? (server.state === "restarting" ? "Restarting" : "Starting");
  return {
    text: "$(loading~spin) Ullage",
    tooltip: `**Ullage context gauge**\n\n${escapeMarkdown(message)}`,
    ariaLabel: `Ullage: ${message}`,
    command: "ullage.focus",
  };
}

function renderTooltip(gauge: Gauge, compacting: boolean): string {
  const about = gauge.estimated ? "~" : "";
  const lines = [
    `**Context ${about}${formatShare(shareOf(gauge))} full**`,
    "",
    `${about}${formatTokensExactly(gauge.used)} of ${formatTokensExactly(gauge.line)} tokens. The model's window is ${formatTokensExactly(gauge.size)}.`,
    "",
    ...renderPolicy(gauge),
    ...renderCategories(gauge),
    ...renderFacts(gauge).flatMap((fact) => [fact, ""]),
    "---",
    "",
    compacting
      ? "$(sync~spin) Compacting…"
      : `${link("Compact now", "ullage.compact")} · ${link("Preview", "ullage.previewCompaction")} · ${link("Timeline", "ullage.showTimeline")} · ${link("Open chat", "ullage.focus")} · ${link("Settings", "ullage.openSettings")}`,
  ];
  return lines.join("\n");
}

const MEASURES: Record<Gauge["measure"], string> = {
  usage: "what the model reported",
  messages: "an estimate of the messages alone",
  "characters / 4": "a quarter of the messages' characters",
};

/** Which policy counts, and how; nothing for Ullage's own. */
function renderPolicy(gauge: Gauge): string[] {
  if (gauge.policy === "ullage") {
    return [];
  }
  return [`By the policy ${escapeMarkdown(gauge.policy)}, which counts ${escapeMarkdown(MEASURES[gauge.measure])}`, ""];
}

function renderCategories(gauge: Gauge): string[] {
  const parts = contextParts(gauge);
  if (parts.length === 0) {
    return [];
  }
  const rows = parts.map(
    ({ what, tokens, share }) => `| ${escapeMarkdown(what)} | ${formatTokensExactly(tokens)} | ${escapeMarkdown(share)} |`,
  );
  const sum = `| **in all** | **${formatTokensExactly(sumOf(parts))}** | |`;
  return ["| Part | Tokens | Share |", "|:--|--:|--:|", ...rows, sum, ""];
}

function renderFacts(gauge: Gauge): string[] {
  const facts: string[] = [];
  if (gauge.estimated && gauge.estimatedTokens != null) {
    facts.push(`Of these, ${formatTokensExactly(gauge.estimatedTokens)} are estimated until the server has counted them`);
  }
  if (gauge.cacheHitRate != null) {
    facts.push(`Read from cache: ${formatShare(gauge.cacheHitRate)}`);
  }
  if (gauge.cost != null) {
    facts.push(`Cost so far: ${formatDollars(gauge.cost)}`);
  }
  if (gauge.frees > 0) {
    const price = gauge.freesCost ? ` for about ${formatDollars(gauge.freesCost)}` : "";
    facts.push(`Compacting now would free about ${formatTokens(gauge.frees)}${price}`);
  } else {
    facts.push("Almost nothing to free");
  }
  const saving = savingAhead(gauge);
  if (saving !== undefined) {
    facts.push(`${saving} · ${renderPutOff(gauge)}`);
  }
  facts.push(whenByItself(gauge));
  return facts;
}

/** Ways to put off a compaction that is to save, or to allow it again. */
function renderPutOff({ next }: Gauge): string {
  return next.saving?.postponed == null
    ? `${putOff("Not now", "turn")} · ${putOff("Not in this session", "session")}`
    : putOff("Allow it", "none");
}

function putOff(title: string, until: Postpone): string {
  return `[${title}](command:ullage.postponeCompaction?${encodeURIComponent(JSON.stringify([until]))})`;
}

function link(title: string, command: GaugeCommand): string {
  return `[${title}](command:${command})`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!|<>$~]/g, "\\$&").replace(/\s+/g, " ");
}

/** One sentence that is true in every state: what decides, and at which size. */
export function whenByItself({ next, line, used }: Gauge): string {
  if (next.why === "off" || next.at == null) {
    return "Does not compact by itself, unless the model refuses a prompt as too long";
  }
  const at = formatShare(line > 0 ? next.at / line : 0);
  switch (next.why) {
    case "undone":
      return `You undid the last compaction: none is made by itself before ${formatTokens(Math.max(0, next.at - used))} more tokens have come`;
    case "grown":
      return `The last compaction left much: compacts by itself at ${at}`;
    case "unanswered":
      return `Compacts by itself at ${at}, once the model has answered`;
    case "failed":
      return "Compacting failed several times: it is tried again in a few minutes";
    case "window":
      return `Compacts by itself at ${at}, when the window is nearly full`;
    case "line":
      return next.whileEditing
        ? `Compacts when you pause while editing, since the next turn may fill it, or at ${at}`
        : `Compacts by itself at ${at}`;
  }
}

/** The announcement of a compaction that is to save money; undefined where none is ahead. */
export function savingAhead({ next }: Gauge): string | undefined {
  return next.saving == null ? undefined : announced(next.saving);
}

function announced({ when, dollars, postponed }: EarlySaving): string {
  const saves = `compact to save about ${formatDollars(dollars)}`;
  if (postponed === "turn") {
    return `Would ${saves}: not before your next turn has ended`;
  }
  if (postponed === "session") {
    return `Would ${saves}: not in this session`;
  }
  return when === "prompt"
    ? `Will ${saves} with your next prompt`
    : `Will ${saves} when you pause for 4 minutes, or with the prompt after that`;
}

export interface ContextPart {
  what: string;
  tokens: number;
  /** `4%`, of all parts together. */
  share: string;
}

/** The server's names in a user's words; names of tools stay as they are. */
const WORDS: Record<string, string> = {
  system: "system prompt",
  rules: "rules of the workspace",
  tools: "tool definitions",
  summary: "summary so far",
  files: "files read again",
  user: "your messages",
  assistant: "the model's replies",
};

/** The parts that are there, in the server's order. */
export function contextParts({ categories }: Gauge): ContextPart[] {
  const shown = categories.filter(({ tokens }) => tokens > 0);
  const whole = sumOf(shown);
  return shown.map(({ name, tokens }) => ({ what: WORDS[name] ?? name, tokens, share: formatPart(tokens, whole) }));
}

/** Tokens of all parts: what the gauge shows as used, where the model reported it. */
export function sumOf(parts: readonly { tokens: number }[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}
