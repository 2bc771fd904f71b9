/** What became of messages, in words and icons, and the row that stands for a message in the preview and the timeline. */

import { plural, t } from "../../src/l10n";
import type { Fate, Pins, PreviewLine } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, icon } from "../dom";
import type { History } from "../state";

export interface FateWords {
  icon: string;
  /** What happened, or would happen, to it. */
  word: string;
  /** What the model has of it. */
  meaning: string;
}

export const FATES: Record<Fate, FateWords> = {
  kept: { icon: "check", word: t("stays"), meaning: t("The model sees it as it is") },
  clipped: {
    icon: "diff",
    word: t("shortened"),
    meaning: t("It was too long: the model sees its beginning, its end, and where to find the rest"),
  },
  cleared: {
    icon: "archive",
    word: t("set aside"),
    meaning: t("The model sees a short note that names the call, and can get the result back"),
  },
  snipped: { icon: "remove", word: t("cut out"), meaning: t("The model sees a placeholder instead, and can get it back") },
  summarised: { icon: "fold", word: t("summarised"), meaning: t("The model sees the summary instead, and can get it back") },
  pinned: { icon: "pinned", word: t("stays, pinned"), meaning: t("The model sees it as it is, since it is pinned or belongs to what is") },
};

export const EXCLUDED: FateWords = { icon: "eye-closed", word: t("excluded"), meaning: t("You excluded it: the model does not see it") };

const ROLES: Record<PreviewLine["role"], { icon: string; word: string }> = {
  user: { icon: "account", word: t("You") },
  assistant: { icon: "sparkle", word: "Ullage" },
  tool: { icon: "tools", word: t("Tool") },
  notice: { icon: "info", word: t("Notice") },
  record: { icon: "notebook", word: t("Summary") },
};

/** `50 stay`, `1 stays`. */
export function countedFate(fate: Fate, count: number): string {
  switch (fate) {
    case "kept":
      return plural(count, t("{count} stays"), t("{count} stay"));
    case "pinned":
      return plural(count, t("{count} stays, pinned"), t("{count} stay, pinned"));
    default:
      return t("{count} {word}", { count, word: FATES[fate].word });
  }
}

/** What stands at an item of the conversation beside what it says. */
export interface Mark {
  pinned: boolean;
  /** Undefined if the model sees it. */
  gone: FateWords | undefined;
  /** At what a user took out by hand: the item that it is about. */
  about?: string;
}

export const NO_MARK: Mark = { pinned: false, gone: undefined };

/** The policy of compactions that a user makes by hand, one message at a time. */
export const BY_HAND = "user";

export const GONE: ReadonlySet<Fate> = new Set(["cleared", "snipped", "summarised"]);

/** The marks of all items that have one, by id. */
export function marksOf(pins: Pins, history: History | undefined): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  const byHand = new Set(history?.epochs.filter(({ policy }) => policy === BY_HAND).map(({ compactionId }) => compactionId));
  for (const { itemId, fate, compactionId } of history?.fates ?? []) {
    if (GONE.has(fate)) {
      const isByHand = byHand.has(compactionId);
      marks.set(itemId, { pinned: false, gone: isByHand ? EXCLUDED : FATES[fate] });
      if (isByHand && compactionId != null) {
        marks.set(compactionId, { ...NO_MARK, about: itemId });
      }
    }
  }
  for (const itemId of pins.itemIds) {
    marks.set(itemId, { pinned: true, gone: marks.get(itemId)?.gone });
  }
  return marks;
}

/** Who said it and what, as a link to the item where there is one. */
export function titleOf({ itemId, role, title }: Pick<PreviewLine, "itemId" | "role" | "title">, actions: Actions): HTMLElement {
  const { icon: symbol, word } = ROLES[role];
  const said = (role === "assistant" ? withoutMarkdown(title) : title) || word;
  const mark = icon(symbol);
  const text = element("span", { className: "row-text", textContent: said });
  const label = element("span", { className: "screen-reader-only", textContent: t("{word}: ", { word }) });
  if (itemId == null) {
    return element("span", { className: "row-title", title: said }, mark, label, text);
  }
  const link = element(
    "button",
    { type: "button", className: "row-title row-link", title: t("Go to: {said}", { said }) },
    mark,
    label,
    text,
  );
  link.addEventListener("click", () => actions.showItem(itemId));
  return link;
}

/** A reply's beginning in one line without the marks of headings, code and bold text. */
function withoutMarkdown(text: string): string {
  return text
    .replace(/(^|\s)#{1,6}\s+/g, "$1")
    .replace(/\*\*([^*]+)\*\*/g, "$1")
    .replace(/`([^`]+)`/g, "$1");
}
