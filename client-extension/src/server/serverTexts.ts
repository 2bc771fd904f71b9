/**
 * What the server says, in the user's language. It says it in English, in its log, to the model and on the wire: a sentence is looked up here in the
 * form that it has in the server's code, and what stands in its braces is put into the other language's sentence. What is not known stays English.
 * See docs/decisions/0022-the-client-says-the-servers-sentences.md. No VS Code and no DOM.
 */

import { currentLanguage, t } from "../l10n";
import { SERVER_SENTENCES } from "./serverSentences";

interface Form {
  sentence: string;
  pattern: RegExp;
  names: string[];
}

/** Values that are sentences or parts of them themselves; others are names, paths and what a server of a model said. */
const SPOKEN = new Set([
  "why",
  "reason",
  "error",
  "name",
  "busy",
  "look",
  "writer",
  "connections",
  "description",
  "place",
  "ways",
  "wanted",
]);

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
]);
const FIELDS_BY_KIND: Record<string, ReadonlySet<string>> = { notice: new Set(["text"]), toolCall: new Set(["title"]) };

let forms: readonly Form[] | undefined;

/** A text of the server in the user's language; as it is where that is English, and where it is not known. */
export function inLanguage(text: string): string {
  if (currentLanguage() === "en" || text === "") {
    return text;
  }
  forms ??= SERVER_SENTENCES.map(formOf).toSorted((one, other) => fixedPart(other) - fixedPart(one));
  for (const { sentence, pattern, names } of forms) {
    const match = pattern.exec(text);
    if (match !== null) {
      const values = names.map((name, index) => [name, SPOKEN.has(name) ? inLanguage(match[index + 1] ?? "") : (match[index + 1] ?? "")]);
      // oxlint-disable-next-line ullage/untranslated -- the sentences are collected where they stand
      const said = t(sentence, Object.fromEntries(values) as Record<string, string>);
      return sentence.endsWith(" ") ? said + inLanguage(text.slice(match[0].length)) : said;
    }
  }
  return text;
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
        return [key, isText(key, own, value) ? inLanguage(inner) : inner];
      }
      return [key, key === "skipped" && Array.isArray(inner) ? inner.map((each) => inLanguage(String(each))) : translated(inner)];
    }),
  );
}

function isText(key: string, kind: string | undefined, around: object): boolean {
  if (FIELDS.has(key) || FIELDS_BY_KIND[kind ?? ""]?.has(key) === true) {
    return true;
  }
  const isOption = key === "name" && "optionId" in around;
  const isMode = (key === "name" || key === "description") && "description" in around && "id" in around;
  const isOfChange = key === "note" && "status" in around;
  return isOption || isMode || isOfChange;
}

/** One that ends in a space is the beginning of a text, and what follows is looked up by itself. */
function formOf(sentence: string): Form {
  const names = Array.from(sentence.matchAll(/\{(\w+)\}/g), ([, name]) => name ?? "");
  const fixed = sentence.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return { sentence, names, pattern: new RegExp(`^${fixed.join("([\\s\\S]*?)")}${sentence.endsWith(" ") ? "" : "$"}`) };
}

function fixedPart({ sentence }: Form): number {
  return sentence.replace(/\{\w+\}/g, "").length;
}
