/** Turns what a tool got and gave into text for people. Pure. */

import { t } from "../../src/l10n";
import type { FileDiff } from "../../src/protocol";

/** Whether a tool's input has been written to its end. */
export function isWhole(input: string): boolean {
  return input.trimEnd().endsWith("}") && parseObject(input) !== undefined;
}

/**
 * A tool's input, one line per key: short values beside their key, long or several-line ones below it. While it is being written, what there
 * is of it; what is no JSON is shown as it is.
 */
export function describeInput(input: string): string {
  const parsed = parseObject(input) ?? (input.length < MOST_READ_ANEW ? parseBeginning(input) : undefined);
  if (parsed === undefined) {
    return input.startsWith("{") && input.length < MOST_READ_ANEW ? "" : input;
  }
  return Object.entries(parsed)
    .map(([key, value]) => describeValue(key, typeof value === "string" ? value : JSON.stringify(value, null, 2)))
    .join("\n");
}

/** The command of an `execute` tool, where its input has one. */
export function commandOf(input: string): string | undefined {
  const command = parseObject(input)?.command;
  return typeof command === "string" ? command : undefined;
}

/** Which tool of which MCP server is called, where the input names both. */
export function mcpToolOf(input: string): { server: string; tool: string } | undefined {
  const { server, tool } = parseObject(input) ?? {};
  return typeof server === "string" && typeof tool === "string" ? { server, tool } : undefined;
}

/** What an edit would do, from its input: shown while it waits for an approval. Undefined if the input is not whole or no edit. */
export function proposedDiff(input: string): FileDiff | undefined {
  const { path, old_text: oldText = "", new_text: newText, content = newText } = parseObject(input) ?? {};
  if (typeof path === "string" && typeof oldText === "string" && typeof content === "string") {
    return { path, oldText, newText: content };
  }
  return undefined;
}

export const WEB_SEARCH = "web_search";

export interface FoundPages {
  pages: { title: string; url: string; host: string; age: string }[];
  /** What the model says that read them; empty if it says nothing. */
  report: string;
}

/** The pages of a search's result, as the server writes them. Undefined if it is none: it failed, or was taken out. */
export function foundIn(output: string): FoundPages | undefined {
  if (!output.startsWith("Searched for: ")) {
    return undefined;
  }
  const [list = "", report = ""] = output.split(/\n\nReport:\n/, 2);
  const pages = [...list.matchAll(/^\d+\. (.+) \(([^()]+)\)\n {3}(https?:\/\/\S+)$/gmu)].flatMap(([, title = "", where = "", url = ""]) => {
    const host = URL.canParse(url) ? new URL(url).hostname : "";
    return host === "" ? [] : [{ title, url, host, age: where.split(", ").slice(1).join(", ") }];
  });
  return { pages, report: report.replace(/^> ?/gmu, "") };
}

export const PROPOSE_PLAN = "propose_plan";

/** The plan that a call proposes, as far as it is written. */
export function planOf(input: string): string {
  const plan = (parseObject(input) ?? (input.length < MOST_READ_ANEW ? parseBeginning(input) : undefined))?.plan;
  return typeof plan === "string" ? plan : "";
}

/** The plan as it was accepted: what follows the first empty line of the result. */
export function acceptedPlan(output: string): string {
  const start = output.indexOf("\n\n");
  return start < 0 ? output : output.slice(start + 2);
}

/**
 * What the user changed in a proposed edit before they accepted it, as lines of a unified difference: from the result, where the model is told.
 * Undefined if they changed nothing; empty if it is too long to be told.
 */
export function yourChanges(output: string): string | undefined {
  if (!output.startsWith("The user changed your proposal for ")) {
    return undefined;
  }
  const opened = "\n```diff\n";
  const start = output.indexOf(opened);
  const end = output.lastIndexOf("\n```");
  return start < 0 || end < start ? "" : output.slice(start + opened.length, end);
}

/** Whether a rule of the user's refused the call: in the result, the model is told which. */
export function isRefusedByRule(output: string): boolean {
  return output.startsWith("A rule of the user's refuses this call");
}

/** Text without terminal control sequences, and without what a carriage return overwrote. */
export function plainOutput(output: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the control characters that are taken out
  const withoutEscapes = output.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g, "");
  return withoutEscapes.replace(/\r\n/g, "\n").replace(/^.*\r(?!$)/gm, "");
}

function describeValue(key: string, value: string): string {
  const name = inWords(key);
  return value.includes("\n") ? `${name}:\n${value}` : `${name}: ${value}`;
}

/** What Ullage's own tools call what they are asked about; the words of other tools stay theirs. */
const NAMES: Readonly<Record<string, string>> = {
  path: t("Path"),
  command: t("Command"),
  query: t("Query"),
  url: t("Address"),
  server: t("Server"),
  tool: t("Tool"),
  arguments: t("Arguments"),
  old_text: t("Old text"),
  new_text: t("New text"),
  content: t("Content"),
};

/** `old_text` → `Old text`. */
function inWords(key: string): string {
  if (Object.hasOwn(NAMES, key)) {
    return NAMES[key] ?? key;
  }
  const words = key.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Characters over which an input that is still being written is shown as it comes: to read it anew with each piece would be felt. */
const MOST_READ_ANEW = 20_000;

/** What there is of an object that is still being written. */
function parseBeginning(text: string): Record<string, unknown> | undefined {
  const endings = ['"}', "}", '":""}', "null}", '"]}', "]}"];
  for (const ending of endings) {
    const parsed = parseObject(text.replace(/[\\,\s]+$/, "") + ending);
    if (parsed !== undefined) {
      return parsed;
    }
  }
  return undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
