/**
 * What is said in the conversation: prompts of the user, texts and thinking of the model, notices; and the images and PDFs that the model was
 * shown.
 */

import { durationInWords } from "../../src/format";
import { dateLanguage, t } from "../../src/l10n";
import type { AssistantItem, NoticeItem, ShownMedia, ThinkingItem, UserItem } from "../../src/protocol";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { CHANGES, element, icon, setChildren, textButton, withCode } from "../dom";
import { MarkdownView } from "../markdown/view";
import type { ImageFile } from "../messages";
import type { MakeItemView } from "./itemView";

/** A prompt of the user, as it was typed. */
export const makeUserView: MakeItemView<UserItem> = (item, actions) => {
  const text = element("div", { className: "user-text", dir: "auto" });
  const chips = element("div", { className: "chips" });
  const pictures = element("div", { className: "media" });
  const root = element("article", { className: "item user", attributes: { "aria-label": t("You") } }, text, chips, pictures);
  const update = ({ text: words, attachments, at, media }: UserItem) => {
    const shown = media ?? [];
    const names = new Set(shown.map(({ name }) => name));
    const others = attachments.filter((name) => !names.has(name));
    text.textContent = words;
    root.title = new Date(at * 1000).toLocaleString(dateLanguage());
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

/** A text of the model. */
export const makeAssistantView: MakeItemView<AssistantItem> = (item, actions) => {
  const markdown = new MarkdownView(actions);
  markdown.update(item.text);
  const root = element("article", { className: "item assistant", attributes: { "aria-label": "Ullage" } }, markdown.element);
  return { element: root, update: ({ text }) => markdown.update(text) };
};

/** A summary of the model's thinking, folded until the user wants it. */
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
  return took === "" ? t("Thinking") : t("Thought for {took}", { took });
}

const LEVELS = { info: t("Notice"), warning: t("Warning"), error: t("Error") } as const;
const ICONS = { info: "info", warning: "warning", error: "error" } as const;

/** Something the user should know, with what can be done about it. */
export const makeNoticeView: MakeItemView<NoticeItem> = (item, actions) => {
  const root = element("article", { className: "item notice" });
  const update = (notice: NoticeItem) => {
    root.className = `item notice ${notice.level}`;
    root.setAttribute("aria-label", LEVELS[notice.level]);
    const buttons = actionButtons(notice, actions);
    const body = element(
      "div",
      { className: "notice-body" },
      element("div", { className: "notice-text" }, ...withCode(notice.text)),
      buttons.length > 0 && element("div", { className: "button-row" }, ...buttons),
    );
    setChildren(root, icon(ICONS[notice.level], "notice-icon"), body);
  };
  update(item);
  return { element: root, update };
};

function actionButtons(notice: NoticeItem, actions: Actions): HTMLElement[] {
  const goOn = (label: string, symbol: string) =>
    textButton({ label, icon: symbol, className: `go-on ${CHANGES}`, onClick: () => void actions.send("ullage/session/continue", {}) });
  switch (notice.action) {
    case "continue":
      return [goOn(t("Continue"), "debug-continue")];
    case "set_key":
      return [
        textButton({ label: t("Set API key"), icon: "key", onClick: () => actions.runCommand("ullage.setApiKey") }),
        goOn(t("Try again"), "refresh"),
      ];
    case "choose_model":
      return [
        textButton({ label: t("Choose a model"), icon: "server-process", onClick: () => actions.runCommand("ullage.selectModel") }),
        goOn(t("Try again"), "refresh"),
      ];
    case "hooks":
      return [textButton({ label: t("Show hooks"), icon: "checklist", onClick: () => actions.runCommand("ullage.showInstructions") })];
    case "settings":
      return [
        textButton({ label: t("Connect a model"), icon: "plug", onClick: () => actions.runCommand("ullage.setUpModel") }),
        textButton({ label: t("Open settings"), icon: "gear", onClick: () => actions.runCommand("ullage.openSettings") }),
        goOn(t("Try again"), "refresh"),
      ];
    case "none":
      return [];
  }
}

/** One button for each; `named` where nothing beside it says which file it is. */
export function drawMedia(media: readonly ShownMedia[], actions: Actions, named = false): HTMLElement[] {
  return media.map((shown) => drawOne(shown, actions, named));
}

function drawOne({ name, words, path }: ShownMedia, actions: Actions, named: boolean): HTMLElement {
  const label = named && name !== "" ? `${name}: ${words}` : words;
  const button = element("button", {
    type: "button",
    className: "media-button",
    title: t("Open {path}", { path: visibleLine(name || path) }),
  });
  button.append(path.endsWith(".pdf") ? icon("file-pdf") : thumbnail(path, actions), element("bdi", { textContent: visibleLine(label) }));
  button.addEventListener("click", () => actions.openFile(path));
  return button;
}

/** The image itself, as soon as the host has read it; until then, and where its file is gone, a sign for one. */
function thumbnail(path: string, actions: Actions): HTMLElement {
  const sign = icon("file-media");
  const image = element("img", { className: "thumbnail", alt: "" });
  const show = ({ bytes, mediaType }: ImageFile) => {
    const address = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
    image.addEventListener("load", () => URL.revokeObjectURL(address));
    image.addEventListener("error", () => {
      URL.revokeObjectURL(address);
      image.replaceWith(sign); // it claims to be an image, and is not one
    });
    image.src = address;
    sign.replaceWith(image);
  };
  actions.readImage(path).then(show, () => undefined);
  return sign;
}
