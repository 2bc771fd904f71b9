/** A text of the model. */

import type { AssistantItem } from "../../src/protocol";
import { element } from "../dom";
import { MarkdownView } from "../markdown";
import type { MakeItemView } from "./itemView";

export const makeAssistantView: MakeItemView<AssistantItem> = (item, actions) => {
  const markdown = new MarkdownView(actions);
  markdown.update(item.text);
  const root = element("article", { className: "item assistant", attributes: { "aria-label": "Ullage" } }, markdown.element);
  return { element: root, update: ({ text }) => markdown.update(text) };
};
