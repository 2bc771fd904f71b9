/** A hit of a search in words. No VS Code in here. */

import type { SearchHit } from "./protocol";

/** For a quick pick: what was said first, then where. What looks like an icon in it stays text. */
export function hitTexts({ sessionTitle, what, excerpt, at }: SearchHit): { label: string; description: string; detail: string } {
  const when = new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  return {
    label: plain(excerpt),
    description: WORDS[what] ?? plain(what),
    detail: plain(`${sessionTitle || "New session"} · ${when}`),
  };
}

const WORDS: Record<string, string> = { user: "you", assistant: "Ullage" };

function plain(text: string): string {
  return text.replace(/\s+/g, " ").replace(/\$\((?=[a-z])/gi, "\\$(");
}
