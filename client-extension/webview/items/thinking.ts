/** A summary of the model's thinking, folded until the user wants it. */

import type { ThinkingItem } from "../../src/protocol";
import { element, icon } from "../dom";
import { MarkdownView } from "../markdown";
import type { MakeItemView } from "./itemView";

export const makeThinkingView: MakeItemView<ThinkingItem> = (item, actions) => {
  const markdown = new MarkdownView(actions);
  let latest = item;
  const summary = element("summary", { className: "fold" }, icon("chevron-right", "fold-mark"), "Thinking");
  const root = element("details", { className: "item thinking" }, summary, markdown.element);
  const draw = () => root.open && markdown.update(latest.text);
  root.addEventListener("toggle", draw);
  return {
    element: root,
    update: (next) => {
      latest = next;
      draw();
    },
  };
};
