/** A hit of a search in words. No VS Code in here. */

import type { SearchHit } from "./protocol";
import { labelText } from "./shownText";

/** Characters shown before the first word that was searched for: a row is cut at its end, and the word has to be in it. */
const LEAD = 24;

export interface HitTexts {
  label: string;
  detail: string;
  /** Name of the icon of who said it. */
  icon: string;
}

/** For a quick pick: what was said, from the words that were searched for on; below it by whom, when and where. */
export function hitTexts({ sessionTitle, what, excerpt, at }: SearchHit, query: string): HitTexts {
  const when = new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const { icon, word } = SPEAKERS[what] ?? { icon: "tools", word: what };
  return {
    label: plain(fromFirstWord(excerpt.replace(/\s+/g, " "), query)),
    detail: plain(`${word} · ${when} · ${sessionTitle || "New session"}`),
    icon,
  };
}

const SPEAKERS: Record<string, { icon: string; word: string }> = {
  user: { icon: "account", word: "you" },
  assistant: { icon: "sparkle", word: "Ullage" },
};

/** The text from a little before the first of the words; from its beginning where none of them is far in it. */
function fromFirstWord(text: string, query: string): string {
  const lower = text.toLowerCase();
  const found = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => lower.indexOf(word))
    .filter((index) => index >= 0);
  const first = found.length === 0 ? 0 : Math.min(...found);
  if (first <= 2 * LEAD) {
    return text;
  }
  const from = text.indexOf(" ", first - LEAD);
  return `… ${text.slice(from < 0 || from >= first ? first : from + 1)}`;
}

function plain(text: string): string {
  return labelText(text.replace(/\s+/g, " "));
}
