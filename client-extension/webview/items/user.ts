/** A prompt of the user, as it was typed. */

import type { UserItem } from "../../src/protocol";
import { element, icon, setChildren } from "../dom";
import type { MakeItemView } from "./itemView";

export const makeUserView: MakeItemView<UserItem> = (item) => {
  const text = element("div", { className: "user-text" });
  const chips = element("div", { className: "chips" });
  const root = element("article", { className: "item user", attributes: { "aria-label": "You" } }, text, chips);
  const update = ({ text: words, attachments, at }: UserItem) => {
    text.textContent = words;
    root.title = new Date(at * 1000).toLocaleString();
    setChildren(chips, ...attachments.map((name) => element("span", { className: "chip" }, icon("file"), name)));
    chips.hidden = attachments.length === 0;
  };
  update(item);
  return { element: root, update };
};
