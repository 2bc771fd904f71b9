/** What the context is made of, in words: the gauge's tooltip and the panel's card show the same rows. No VS Code and no DOM. */

import { formatPart } from "./format";
import type { Gauge } from "./protocol";

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
