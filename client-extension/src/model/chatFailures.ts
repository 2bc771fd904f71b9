/** Why a language model of VS Code gave no whole reply, from the errors that VS Code and Copilot throw. No VS Code in here. */

import type { ChatFailure } from "../protocol";

/** By the code of a `LanguageModelError`, and by the names that Copilot gives its own errors. */
const BY_NAME: Readonly<Record<string, ChatFailure["reason"]>> = {
  NoPermissions: "notAllowed",
  Blocked: "blocked",
  NotFound: "gone",
  ChatQuotaExceeded: "quota",
  ChatRateLimited: "busy",
};

/** What other vendors say in words: they have no codes for it. */
const BY_WORDS: readonly [words: RegExp, reason: ChatFailure["reason"]][] = [
  [/\bquota\b|premium requests?/i, "quota"],
  [/rate.?limit|too many requests|\b429\b/i, "busy"],
];

/** How far down causes are followed. */
const DEEPEST = 5;

/** What the error says, with the reason that can be told from it or from what caused it. */
export function failureOf(error: unknown): ChatFailure {
  const errors = withCauses(error);
  const said = errors
    .map(({ message }) => message)
    .filter((message, index, all) => message !== "" && all.indexOf(message) === index)
    .join(": ");
  const named = errors.flatMap(({ code, name }) => [code, name]).find((name) => Object.hasOwn(BY_NAME, name));
  const reason = named === undefined ? BY_WORDS.find(([words]) => words.test(said))?.[1] : BY_NAME[named];
  return { reason: reason ?? "other", said };
}

interface Described {
  name: string;
  code: string;
  message: string;
}

function withCauses(error: unknown): Described[] {
  const found: Described[] = [];
  let next = error;
  while (next !== undefined && next !== null && found.length < DEEPEST) {
    const { name, code, message, cause } = (typeof next === "object" ? next : { message: next }) as Record<string, unknown>;
    found.push({ name: textOf(name), code: textOf(code), message: textOf(message) });
    next = cause;
  }
  return found;
}

/** The text; empty for what is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What a model gave as the input of a call, as JSON text. What is no JSON is given as it would be shown: the server says so to the model. */
export function inputAsJson(input: unknown): string {
  try {
    return JSON.stringify(input) ?? String(input);
  } catch {
    return String(input);
  }
}

/** A count of tokens; 0 for what can be none. */
export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(Math.round(value)) ? Math.max(0, Math.round(value)) : 0;
}
