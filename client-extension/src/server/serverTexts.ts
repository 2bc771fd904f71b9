/**
 * What the server says, in the user's language. It says it in English, in its log, to the model and on the wire: a sentence is looked up here in the
 * form that it has in the server's code, and what stands in its braces is put into the other language's sentence. What is not known stays English.
 * See docs/decisions/0022-the-client-says-the-servers-sentences.md. No VS Code and no DOM.
 */

import { currentLanguage, t } from "../l10n";
import { APPROVALS_AND_RULES } from "./sentences/permissions";
import { CHANGES } from "./sentences/changes";
import { COMMANDS_AND_SETTINGS } from "./sentences/commands";
import { COMPACTION } from "./sentences/compaction";
import { CLOUDS } from "./sentences/clouds";
import { HOOKS } from "./sentences/hooks";
import { MCP } from "./sentences/mcp";
import { MODELS } from "./sentences/models";
import { SESSIONS } from "./sentences/store";
import { TEAM } from "./sentences/team";
import { TURNS } from "./sentences/turns";

/**
 * The sentences of the server that users meet, as they stand in its code: what is in braces there has a name here. `tests/unit/test_texts_for_users.py`
 * fails where one of them is no longer in the code, and where a sentence that users can meet is not among them.
 */
const SERVER_SENTENCES: readonly string[] = [
  ...APPROVALS_AND_RULES,
  ...COMMANDS_AND_SETTINGS,
  ...CLOUDS,
  ...MODELS,
  ...COMPACTION,
  ...CHANGES,
  ...HOOKS,
  ...SESSIONS,
  ...TEAM,
  ...TURNS,
  ...MCP,
];

interface Form {
  sentence: string;
  pattern: RegExp;
  names: string[];
}

/** Values that are sentences, parts of them, or lists of these; others are names, paths and what a server of a model said. */
const SPOKEN = new Set([
  ...["why", "reason", "error", "name", "busy", "look", "writer", "connections", "description", "place", "ways", "way", "wanted", "what"],
  ...[
    "note",
    "told",
    "kind",
    "files",
    "doing",
    "verb",
    "problem",
    "problems",
    "shown",
    "lines",
    "brought",
    "fault",
    "who",
    "owner",
    "hint",
  ],
  ...["example", "media", "epoch", "missing", "how", "which", "time"],
]);
/** Values that are numbers, written in digits. */
const NUMBERS = new Set(["count", "seconds", "minutes", "days", "number", "requests", "pages", "width", "height"]);

/** Where a text of the server stands in what it sends; the kind of the object around it decides for words that mean many things. */
const FIELDS = new Set([
  "permissionReason",
  "reason",
  "why",
  "conflict",
  "error",
  "nothing",
  "estimate",
  "explanation",
  "warning",
  "problem",
  "noSandbox",
  "doing",
]);
const FIELDS_BY_KIND: Record<string, ReadonlySet<string>> = { notice: new Set(["text"]), toolCall: new Set(["title"]) };
/** Lists of texts. */
const LISTS = new Set(["skipped", "failures", "problems"]);
/** Messages of the model's view that the server names itself; the others begin with the words of the user or of the model. */
const NAMED_BY_THE_SERVER = new Set(["tool", "notice", "record"]);
/** The same of the parts of the context. */
const SAID_BY_NOBODY = new Set(["call", "summary", "notice", "rules", "file"]);
/** What is attached and is no file, so that it has a name of the server's. */
const ATTACHED = new Set(["problems", "pasted image"]); // oxlint-disable-line ullage/untranslated -- compared with what the server sends

/** Characters of a line; a longer one is none of the server's. Looking for values takes longer than the text is long. */
const LONGEST = 2000;

let forms: readonly Form[] | undefined;

/** A text of the server in the user's language; as it is where that is English, and where it is not known. */
export function inLanguage(text: string): string {
  if (currentLanguage() === "en" || text === "") {
    return text;
  }
  if (text.includes("\n")) {
    return inParts(text, /(\n)/) ?? text;
  }
  return text.length > LONGEST ? text : (asOne(text) ?? inParts(text, /(?<=[.?])( )(?=[A-Z`“"])/) ?? withItsStop(text) ?? text);
}

/** A part of a sentence that the server has ended with a full stop, such as a reason before a remedy. */
function withItsStop(text: string): string | undefined {
  const said = text.endsWith(".") ? asOne(text.slice(0, -1)) : undefined;
  return said === undefined ? undefined : `${said}。`;
}

function asOne(text: string): string | undefined {
  forms ??= SERVER_SENTENCES.map(formOf).toSorted((one, other) => fixedPart(other) - fixedPart(one));
  for (const { sentence, pattern, names } of forms) {
    const match = pattern.exec(text);
    if (match !== null) {
      const values = names.map((name, index) => [name, SPOKEN.has(name) ? spoken(match[index + 1] ?? "") : (match[index + 1] ?? "")]);
      // oxlint-disable-next-line ullage/untranslated -- the sentences are collected where they stand
      const said = t(sentence, Object.fromEntries(values) as Record<string, string>);
      return sentence.endsWith(" ") ? said + inLanguage(text.slice(match[0].length)) : said;
    }
  }
  return undefined;
}

/** Several texts in one, such as the lines of a list; undefined if none of them is known. A space behind a Chinese full stop is left out. */
function inParts(text: string, between: RegExp): string | undefined {
  const parts = text.split(between);
  if (parts.length === 1) {
    return undefined;
  }
  const said = parts.map((part, index) => (index % 2 === 0 ? inLanguage(part) : part));
  return said.some((part, index) => part !== parts[index])
    ? said.filter((part, index) => part !== " " || !(said[index - 1] ?? "").endsWith("。")).join("")
    : undefined;
}

/** A value that is a text, or several of them with commas or "and" between; what stands in backticks is none. */
function spoken(value: string): string {
  const said = inLanguage(value);
  if (said !== value) {
    return said;
  }
  const parts = value.split(/(?:, | and |; )(?=(?:[^`]*`[^`]*`)*[^`]*$)/);
  const spokenParts = parts.map(inLanguage);
  return spokenParts.some((part, index) => part !== parts[index]) ? spokenParts.join("、") : value;
}

/** Asks the user what the server asks, in their language. @returns the answer in the server's words; null where there was none */
export async function askInLanguage<Action extends { title: string }>(
  message: string,
  actions: readonly Action[],
  ask: (message: string, ...titles: string[]) => PromiseLike<string | undefined>,
): Promise<Action | null> {
  const titles = actions.map(({ title }) => inLanguage(title));
  const chosen = await ask(inLanguage(message), ...titles);
  return actions.find((_, index) => titles[index] === chosen) ?? null;
}

/** What the server sent, with its texts in the user's language; the very same where that is English. */
export function withTexts<Value>(value: Value): Value {
  return currentLanguage() === "en" ? value : (translated(value) as Value);
}

function translated(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(translated);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const own = "kind" in value && typeof value.kind === "string" ? value.kind : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (typeof inner === "string") {
        const said = key === "note" ? spoken : inLanguage; // a note can be a list
        return [key, isText(key, inner, own, value) ? said(inner) : inner];
      }
      if (Array.isArray(inner) && LISTS.has(key)) {
        return [key, inner.map((each) => inLanguage(String(each)))];
      }
      return [key, key === "attachments" && Array.isArray(inner) ? inner.map(attached) : translated(inner)];
    }),
  );
}

function isText(key: string, value: string, kind: string | undefined, around: object): boolean {
  if (FIELDS.has(key) || FIELDS_BY_KIND[kind ?? ""]?.has(key) === true) {
    return true;
  }
  if (key === "title" && "role" in around) {
    return NAMED_BY_THE_SERVER.has(String(around.role)) || (around.role === "assistant" && /^(Calls \S|Thinks$)/.test(value));
  }
  if (key === "title" && "sent" in around) {
    return SAID_BY_NOBODY.has(kind ?? "") || (kind === "reply" && /^(Calls \S|Thinks$)/.test(value));
  }
  if (key === "text" && "standing" in around) {
    return isWhole(value);
  }
  if (key === "displayName") {
    return isWhole(value);
  }
  const isOption = key === "name" && "optionId" in around;
  const isMode = (key === "name" || key === "description") && "description" in around && "id" in around;
  const isRule = key === "name" && "explanation" in around;
  const isOfFile = key === "note" && "path" in around;
  const isOfMedia = key === "words" && "path" in around;
  const isNameOfMedia = key === "name" && "words" in around && ATTACHED.has(value);
  return isOption || isMode || isRule || isOfFile || isOfMedia || isNameOfMedia;
}

/** Whether it is a sentence of the server without any value in it. */
function isWhole(text: string): boolean {
  return SERVER_SENTENCES.includes(text);
}

function attached(each: unknown): unknown {
  return typeof each === "string" && ATTACHED.has(each) ? inLanguage(each) : translated(each);
}

/** One that ends in a space is the beginning of a text, and what follows is looked up by itself. */
function formOf(sentence: string): Form {
  const names = Array.from(sentence.matchAll(/\{(\w+)\}/g), ([, name]) => name ?? "");
  const fixed = sentence.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const values = names.map((name) => (NUMBERS.has(name) ? String.raw`([\d.,e+]+)` : String.raw`([\s\S]*?)`));
  const pattern = fixed.map((part, index) => part + (values[index] ?? "")).join("");
  return { sentence, names, pattern: new RegExp(`^${pattern}${sentence.endsWith(" ") ? "" : "$"}`) };
}

function fixedPart({ sentence }: Form): number {
  return sentence.replace(/\{\w+\}/g, "").length;
}
