/** A row that stands for a message in the preview and the timeline: who said it and what, as a link to the item where there is one. */

import type { PreviewLine } from "../src/protocol";
import type { Actions } from "./actions";
import { element, icon } from "./dom";
import { ROLES } from "./fates";

export function titleOf({ itemId, role, title }: Pick<PreviewLine, "itemId" | "role" | "title">, actions: Actions): HTMLElement {
  const { icon: symbol, word } = ROLES[role];
  const said = (role === "assistant" ? withoutMarkdown(title) : title) || word;
  const mark = icon(symbol);
  const text = element("span", { className: "row-text", textContent: said });
  const label = element("span", { className: "screen-reader-only", textContent: `${word}: ` });
  if (itemId == null) {
    return element("span", { className: "row-title", title: said }, mark, label, text);
  }
  const link = element("button", { type: "button", className: "row-title row-link", title: `Go to: ${said}` }, mark, label, text);
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
