/** Something the user should know, with what can be done about it. */

import type { NoticeItem } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, icon, setChildren, textButton } from "../dom";
import type { MakeItemView } from "./itemView";

const ICONS = { info: "info", warning: "warning", error: "error" } as const;

export const makeNoticeView: MakeItemView<NoticeItem> = (item, actions) => {
  const root = element("article", { className: "item notice" });
  const update = (notice: NoticeItem) => {
    root.className = `item notice ${notice.level}`;
    root.setAttribute("aria-label", notice.level === "info" ? "Notice" : notice.level);
    const body = element("div", { className: "notice-body" }, element("div", {}, notice.text), actionButton(notice, actions));
    setChildren(root, icon(ICONS[notice.level], "notice-icon"), body);
  };
  update(item);
  return { element: root, update };
};

function actionButton(notice: NoticeItem, actions: Actions): HTMLElement | undefined {
  switch (notice.action) {
    case "continue":
      return textButton({
        label: "Continue",
        icon: "debug-continue",
        className: "go-on",
        onClick: () => void actions.send("ullage/session/continue", {}),
      });
    case "set_key":
      return textButton({ label: "Set API key", icon: "key", onClick: () => actions.runCommand("ullage.setApiKey") });
    case "settings":
      return textButton({ label: "Open settings", icon: "gear", onClick: () => actions.runCommand("ullage.openSettings") });
    case "none":
      return undefined;
  }
}
