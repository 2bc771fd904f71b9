/** Something the user should know, with what can be done about it. */

import type { NoticeItem } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, icon, setChildren, textButton, withCode } from "../dom";
import type { MakeItemView } from "./itemView";

const ICONS = { info: "info", warning: "warning", error: "error" } as const;

export const makeNoticeView: MakeItemView<NoticeItem> = (item, actions) => {
  const root = element("article", { className: "item notice" });
  const update = (notice: NoticeItem) => {
    root.className = `item notice ${notice.level}`;
    root.setAttribute("aria-label", notice.level === "info" ? "Notice" : notice.level);
    const buttons = actionButtons(notice, actions);
    const body = element(
      "div",
      { className: "notice-body" },
      element("div", {}, ...withCode(notice.text)),
      buttons.length > 0 && element("div", { className: "button-row" }, ...buttons),
    );
    setChildren(root, icon(ICONS[notice.level], "notice-icon"), body);
  };
  update(item);
  return { element: root, update };
};

function actionButtons(notice: NoticeItem, actions: Actions): HTMLElement[] {
  const goOn = (label: string, symbol: string) =>
    textButton({ label, icon: symbol, className: "go-on", onClick: () => void actions.send("ullage/session/continue", {}) });
  switch (notice.action) {
    case "continue":
      return [goOn("Continue", "debug-continue")];
    case "set_key":
      return [
        textButton({ label: "Set API key", icon: "key", onClick: () => actions.runCommand("ullage.setApiKey") }),
        goOn("Try again", "refresh"),
      ];
    case "choose_model":
      return [
        textButton({ label: "Choose a model", icon: "server-process", onClick: () => actions.runCommand("ullage.selectModel") }),
        goOn("Try again", "refresh"),
      ];
    case "settings":
      return [
        textButton({ label: "Connect a model", icon: "plug", onClick: () => actions.runCommand("ullage.setUpModel") }),
        textButton({ label: "Open settings", icon: "gear", onClick: () => actions.runCommand("ullage.openSettings") }),
        goOn("Try again", "refresh"),
      ];
    case "none":
      return [];
  }
}
