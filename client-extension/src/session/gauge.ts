/**
 * The gauge in words: how full the context is, where it compacts and why, and what it is made of. The status bar and the panel say the same.
 *
 * No VS Code and no DOM in here: `indicators.ts` puts what `render` gives into a status bar item.
 */

import { t } from "../l10n";
import { APPROVAL_KEYS, waitingInWords } from "./approvals";
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
type GaugeCommand = (typeof GAUGE_COMMANDS)[number];

/**
 * What the status bar shows. `gauge` is undefined until a session is open; `approvals` and `questions` say how many of each wait for the user;
 * `isMac` which keys answer them.
 */
export function render(
  gauge: Gauge | undefined,
  state: SessionState,
  server: ServerStatus,
  approvals = 0,
  isMac = false,
  questions = 0,
): GaugeView {
  if (server.state === "stopped") {
    return renderStopped(server);
  }
  if (server.state !== "running" || gauge === undefined) {
    return renderStarting(server);
  }
  const percent = `${gauge.estimated ? "~" : ""}${formatShare(shareOf(gauge))}`;
  const left = formatTokens(Math.max(0, gauge.threshold - gauge.used));
  const compacting = state === "compacting";
  if (approvals + questions > 0) {
    const words = waitingInWords(approvals, questions);
    const keys = approvals > 0 ? renderKeys(isMac) : renderNextKey(isMac);
    return {
      text: `$(bell-dot) ${percent} · ${approvals > 0 ? t("approve") : t("answer")}`,
      tooltip: `**${words}** · ${link(t("Show"), "ullage.nextApproval")}\n\n${keys}\n\n${renderTooltip(gauge, compacting)}`,
      background: "warning",
      ariaLabel: t("Ullage: {words}, context {percent} full. Activate to show", { words, percent }),
      command: "ullage.nextApproval",
    };
  }
  return {
    text: compacting ? `$(sync~spin) ${percent} · ${t("compacting")}` : `$(dashboard) ${percent} · ${t("{left} left", { left })}`,
    tooltip: renderTooltip(gauge, compacting),
    background: gauge.level === "normal" ? undefined : gauge.level,
    ariaLabel: compacting ? t("Ullage: compacting the conversation, context {percent} full", { percent }) : spokenFullness(gauge, left),
    command: compacting ? "ullage.focus" : "ullage.compact",
  };
}

function spokenFullness(gauge: Gauge, left: string): string {
  const values = { percent: formatShare(shareOf(gauge)), left };
  return gauge.estimated
    ? t("Ullage: context about {percent} full, {left} tokens left. Activate to compact", values)
    : t("Ullage: context {percent} full, {left} tokens left. Activate to compact", values);
}

/** Used tokens as a share of the threshold; 0 if there is none. */
export function shareOf(gauge: Gauge): number {
  return gauge.threshold > 0 ? gauge.used / gauge.threshold : 0;
}

function renderKeys(isMac: boolean): string {
  const { allow, refuse, next } = APPROVAL_KEYS.anywhere;
  const key = (each: string) => `\`${keyInWords(each, isMac)}\``;
  return t("{allow} allows once, {refuse} refuses, {next} shows the next", { allow: key(allow), refuse: key(refuse), next: key(next) });
}

function renderNextKey(isMac: boolean): string {
  return t("{next} shows the next", { next: `\`${keyInWords(APPROVAL_KEYS.anywhere.next, isMac)}\`` });
}

function renderStopped(server: ServerStatus): GaugeView {
  const message = server.message ?? t("The Ullage server is not running");
  return {
    text: `$(error) ${t("Ullage stopped")}`,
    tooltip: `**${t("Ullage is stopped")}**\n\n${escapeMarkdown(message)}\n\n${link(t("Restart"), "ullage.restartServer")} · ${link(t("Show logs"), "ullage.showLogs")}`,
    background: "error",
    ariaLabel: t("Ullage: {message}. Activate to restart", { message }),
    command: "ullage.restartServer",
  };
}

function renderStarting(server: ServerStatus): GaugeView {
  const message = server.message ?? (server.state === "restarting" ? t("Restarting") : t("Starting"));
  return {
    text: "$(loading~spin) Ullage",
    tooltip: `**${t("Ullage context gauge")}**\n\n${escapeMarkdown(message)}`,
    ariaLabel: t("Ullage: {message}", { message }),
    command: "ullage.focus",
  };
}

function renderTooltip(gauge: Gauge, compacting: boolean): string {
  const about = gauge.estimated ? "~" : "";
  const lines = [
    `**${t("Context {percent} full", { percent: `${about}${formatShare(shareOf(gauge))}` })}**`,
    "",
    t("{used} of {threshold} tokens. The model's window is {size}.", {
      used: `${about}${formatTokensExactly(gauge.used)}`,
      threshold: formatTokensExactly(gauge.threshold),
      size: formatTokensExactly(gauge.size),
    }),
    "",
    ...renderPolicy(gauge),
    ...renderCategories(gauge),
    ...renderFacts(gauge).flatMap((fact) => [fact, ""]),
    "---",
    "",
    compacting
      ? `$(sync~spin) ${t("Compacting…")}`
      : `${link(t("Compact now"), "ullage.compact")} · ${link(t("Preview"), "ullage.previewCompaction")} · ${link(t("Timeline"), "ullage.showTimeline")} · ${link(t("Open chat"), "ullage.focus")} · ${link(t("Settings"), "ullage.openSettings")}`,
  ];
  return lines.join("\n");
}

const MEASURES: Record<Gauge["measure"], string> = {
  usage: t("what the model reported"),
  messages: t("an estimate of the messages alone"),
  "characters / 4": t("a quarter of the messages' characters"),
};

/** Which policy counts, and how; nothing for Ullage's own. */
function renderPolicy(gauge: Gauge): string[] {
  if (gauge.policy === "ullage") {
    return [];
  }
  return [
    t("By the policy {policy}, which counts {measure}", {
      policy: escapeMarkdown(gauge.policy),
      measure: escapeMarkdown(MEASURES[gauge.measure]),
    }),
    "",
  ];
}

function renderCategories(gauge: Gauge): string[] {
  const parts = contextParts(gauge);
  if (parts.length === 0) {
    return [];
  }
  const rows = parts.map(
    ({ what, tokens, share }) => `| ${escapeMarkdown(what)} | ${formatTokensExactly(tokens)} | ${escapeMarkdown(share)} |`,
  );
  const sum = `| **${t("in all")}** | **${formatTokensExactly(sumOf(parts))}** | |`;
  return [`| ${t("Part")} | ${t("Tokens")} | ${t("Share")} |`, "|:--|--:|--:|", ...rows, sum, ""];
}

function renderFacts(gauge: Gauge): string[] {
  const facts: string[] = [];
  if (gauge.estimated && gauge.estimatedTokens != null) {
    facts.push(
      t("Of these, {tokens} are estimated until the server has counted them", {
        tokens: formatTokensExactly(gauge.estimatedTokens),
      }),
    );
  }
  if (gauge.cacheHitRate != null) {
    facts.push(t("Read from cache: {share}", { share: formatShare(gauge.cacheHitRate) }));
  }
  if (gauge.cost != null) {
    facts.push(t("Cost so far: {cost}", { cost: formatDollars(gauge.cost) }));
  }
  if (gauge.frees > 0) {
    const frees = formatTokens(gauge.frees);
    facts.push(
      gauge.freesCost
        ? t("Compacting now would free about {frees} for about {price}", { frees, price: formatDollars(gauge.freesCost) })
        : t("Compacting now would free about {frees}", { frees }),
    );
  } else {
    facts.push(t("Almost nothing to free"));
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
    ? `${putOff(t("Not now"), "turn")} · ${putOff(t("Not in this session"), "session")}`
    : putOff(t("Allow it"), "none");
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
export function whenByItself({ next, threshold, used }: Gauge): string {
  if (next.why === "off" || next.at == null) {
    return t("Does not compact by itself, unless the model refuses a prompt as too long");
  }
  const at = formatShare(threshold > 0 ? next.at / threshold : 0);
  switch (next.why) {
    case "undone":
      return t("You undid the last compaction: none is made by itself before {tokens} more tokens have come", {
        tokens: formatTokens(Math.max(0, next.at - used)),
      });
    case "grown":
      return t("The last compaction left much: compacts by itself at {at}", { at });
    case "unanswered":
      return t("Compacts by itself at {at}, once the model has answered", { at });
    case "failed":
      return t("Compacting failed several times: it is tried again in a few minutes");
    case "window":
      return t("Compacts by itself at {at}, when the window is nearly full", { at });
    case "threshold":
      return next.whileEditing
        ? t("Compacts when you pause while editing, since the next turn may fill it, or at {at}", { at })
        : t("Compacts by itself at {at}", { at });
  }
}

/** The announcement of a compaction that is to save money; undefined if none is ahead. */
export function savingAhead({ next }: Gauge): string | undefined {
  return next.saving == null ? undefined : announced(next.saving);
}

function announced({ when, dollars, postponed }: EarlySaving): string {
  const saved = { dollars: formatDollars(dollars) };
  if (postponed === "turn") {
    return t("Would compact to save about {dollars}: not before your next turn has ended", saved);
  }
  if (postponed === "session") {
    return t("Would compact to save about {dollars}: not in this session", saved);
  }
  return when === "prompt"
    ? t("Will compact to save about {dollars} with your next prompt", saved)
    : t("Will compact to save about {dollars} when you pause for 4 minutes, or with the prompt after that", saved);
}

export interface PartInGauge {
  what: string;
  tokens: number;
  /** `4%`, of all parts together. */
  share: string;
}

/** The server's names in a user's words; names of tools stay as they are. */
const WORDS: Record<string, string> = {
  system: t("system prompt"),
  rules: t("rules of the workspace"),
  tools: t("tool definitions"),
  summary: t("summary so far"),
  files: t("files read again"),
  user: t("your messages"),
  assistant: t("the model's replies"),
};

/** The parts that are there, in the server's order. */
function contextParts({ categories }: Gauge): PartInGauge[] {
  const shown = categories.filter(({ tokens }) => tokens > 0);
  const whole = sumOf(shown);
  return shown.map(({ name, tokens }) => ({ what: WORDS[name] ?? name, tokens, share: formatPart(tokens, whole) }));
}

/** Tokens of all parts: what the gauge shows as used, where the model reported it. */
export function sumOf(parts: readonly { tokens: number }[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}
