/** A prompt of the user, as it was typed. */

import { visibleLine } from "../../src/visible";
import type { UserItem } from "../../src/protocol";
import { element, icon, setChildren } from "../dom";
import type { MakeItemView } from "./itemView";
import { drawMedia } from "./media";

export const makeUserView: MakeItemView<UserItem> = (item, actions) => {
  const text = element("div", { className: "user-text", dir: "auto" });
  const chips = element("div", { className: "chips" });
  const pictures = element("div", { className: "media" });
  const root = element("article", { className: "item user", attributes: { "aria-label": "You" } }, text, chips, pictures);
  const update = ({ text: words, attachments, at, media }: UserItem) => {
    const shown = media ?? [];
    const names = new Set(shown.map(({ name }) => name));
    const others = attachments.filter((name) => !names.has(name));
    text.textContent = words;
    root.title = new Date(at * 1000).toLocaleString();
    setChildren(
      chips,
      ...others.map((name) => element("span", { className: "chip" }, icon("file"), element("bdi", { textContent: visibleLine(name) }))),
    );
    chips.hidden = others.length === 0;
    setChildren(pictures, ...drawMedia(shown, actions, true));
    pictures.hidden = shown.length === 0;
  };
  update(item);
  return { element: root, update };
};
