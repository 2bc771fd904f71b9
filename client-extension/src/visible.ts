/**
 * Texts of others as the user sees them: what cannot be seen, or changes how the rest is read, stands as an escape. The server does the same
 * with titles and questions (`context/quoting.py`); `tests/protocol/visible.json` holds both to it. Below that, the same for places where VS Code
 * would make links or icons of them. Pure.
 */

import { t } from "./l10n";

/** What is not printed, and what counts as a letter, a mark or a symbol but is not seen: fillers, joiners, variation selectors. */
const UNSEEN =
  /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}|\u034f|[\u115f\u1160\u2800\u3164\uffa0]|\u17b4|\u17b5|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;

/** The text in one line: line ends as `⏎`, everything else that is not seen as `\t`, `\x1b`, `\u202e` or `\U000e0041`. */
export function visibleLine(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN, (character) => (character === "\n" ? "⏎" : escapeOf(character)));
}

/** The same, where lines and tabs are shown as such. */
export function visibleText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(UNSEEN, (character) => (character === "\n" || character === "\t" ? character : escapeOf(character)));
}

function escapeOf(character: string): string {
  if (character === "\t") {
    return "\\t";
  }
  if (character === "\r") {
    return "\\r";
  }
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x1_00) {
    return `\\x${hex.padStart(2, "0")}`;
  }
  return code < 0x1_00_00 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/** For a notification, where `[text](target)` would be a link. */
export function notificationText(text: string): string {
  return visibleLine(text).replaceAll("](", "] (");
}

/** For a label, a status bar item or a quick pick, where `$(name)` would be an icon. */
export function labelText(text: string): string {
  return visibleLine(text).replace(/\$\((?=[a-z])/gi, "\\$(");
}

/** With one full stop at its end, whatever it ended with. */
export function sentence(text: string): string {
  return /[.!?…。！？]$/.test(text.trim()) ? text.trim() : t("{sentence}.", { sentence: text.trim() });
}
