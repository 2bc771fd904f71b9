/** A summary of the model's thinking, folded until the user wants it. */

import type { ThinkingItem } from "../../src/protocol";
import { element, icon } from "../dom";
import { MarkdownView } from "../markdown";
import { durationInWords } from "../../src/format";
import type { MakeItemView } from "./itemView";

export const makeThinkingView: MakeItemView<ThinkingItem> = (item, actions) => {
  const markdown = new MarkdownView(actions);
  let latest = item;
  const label = element("span", { textContent: titleOf(item) });
  const summary = element("summary", { className: "fold" }, icon("chevron-right", "fold-mark"), label);
  const root = element("details", { className: "item thinking" }, summary, markdown.element);
  const draw = () => root.open && markdown.update(latest.text);
  root.addEventListener("toggle", draw);
  return {
    element: root,
    update: (next) => {
      latest = next;
      label.textContent = titleOf(next);
      draw();
    },
  };
};

function titleOf({ seconds }: ThinkingItem): string {
  const took = durationInWords(seconds);
  return took === "" ? "Thinking" : `Thought for ${took}`;
}
