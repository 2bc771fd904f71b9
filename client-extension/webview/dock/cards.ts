/** The gauge beside the prompt box, and the card above it: what `/help` shows, and what went wrong. One card at a time; it is no part of the conversation. */

import { formatShare, formatTokens } from "../../src/format";
import { t } from "../../src/l10n";
import type { Gauge } from "../../src/protocol";
import { CHANGE_KEYS } from "../../src/review/reviewText";
import { APPROVAL_KEYS } from "../../src/session/approvals";
import { shareOf } from "../../src/session/gauge";
import type { WayOut } from "../actions";
import { element, icon, iconButton, keyHere, setChildren, textButton } from "../dom";
import { SLASH_COMMANDS } from "./slashCommands";

const KEYS = [
  ["Enter", t("Send; while it works: queue")],
  ["Shift+Enter", t("New line")],
  ["Ctrl+Enter", t("While it works: add the prompt to the running turn")],
  ["Shift+Tab", t("In the prompt box: the next mode")],
  ["Ctrl+↑", t("From the prompt box to the conversation")],
  ["↑", t("Earlier prompts")],
  ["@", t("Attach a file or the problems")],
  ["Esc", t("Close what is open; else stop")],
  [APPROVAL_KEYS.inPanel.allow, t("Allow once")],
  [APPROVAL_KEYS.inPanel.refuse, t("Refuse")],
  [APPROVAL_KEYS.anywhere.allow, t("From anywhere: allow once")],
  [APPROVAL_KEYS.anywhere.refuse, t("From anywhere: refuse")],
  [APPROVAL_KEYS.anywhere.next, t("From anywhere: show the next approval")],
  [`${CHANGE_KEYS.next} / ${CHANGE_KEYS.previous}`, t("In a file: next or previous change of the agent")],
  [`${CHANGE_KEYS.keep} / ${CHANGE_KEYS.undo}`, t("In a file: keep or undo that change")],
  ["Ctrl+Alt+U", t("From anywhere: to the prompt box")],
] as const;

/** The card above the prompt box. */
export class Cards {
  readonly element = element("div", { className: "card-place" });

  /** Says what went wrong, with a way out where there is one. */
  showError(message: string, wayOut?: WayOut): void {
    const leave = () => {
      this.hide();
      wayOut?.run();
    };
    this.show(
      t("It did not work"),
      element(
        "div",
        { className: "card-error", attributes: { role: "alert" } },
        icon("warning"),
        element("span", { textContent: message }),
      ),
      wayOut && element("div", { className: "button-row" }, textButton({ label: wayOut.label, className: "primary", onClick: leave })),
    );
  }

  showHelp(): void {
    const commands = SLASH_COMMANDS.map(({ name, argument, summary }) =>
      drawRow(`/${name}${argument === undefined ? "" : ` ${argument}`}`, summary),
    );
    this.show(
      t("Commands and keys"),
      element("table", { className: "help" }, element("tbody", {}, ...commands, ...KEYS.map(([key, what]) => drawRow(keyHere(key), what)))),
    );
  }

  /** Gives whether there was one. */
  hide(): boolean {
    const shown = this.element.hasChildNodes();
    this.element.replaceChildren();
    return shown;
  }

  private show(title: string, ...content: (HTMLElement | undefined)[]): void {
    const close = iconButton({ label: t("Close"), icon: "close", onClick: () => void this.hide() });
    const head = element("div", { className: "card-head" }, element("strong", { textContent: title }), close);
    const card = element("section", { className: "card", attributes: { "aria-label": title } }, head, ...content);
    setChildren(this.element, card);
  }
}

function drawRow(key: string, what: string): HTMLElement {
  return element("tr", {}, element("td", {}, element("kbd", { textContent: key })), element("td", { textContent: what }));
}

/** The gauge inside the panel: a bar and a percentage. What the context is made of opens from it. */
export class ContextMeter {
  private readonly fill = element("span", { className: "meter-fill" });
  private readonly text = element("span", { className: "meter-text" });
  readonly element = element(
    "button",
    { type: "button", className: "meter" },
    element("span", { className: "meter-bar", attributes: { "aria-hidden": "true" } }, this.fill),
    this.text,
  );
  private drawn: Gauge | undefined;

  constructor(onClick: () => void) {
    this.element.addEventListener("click", onClick);
  }

  update(gauge: Gauge): void {
    if (gauge === this.drawn) {
      return;
    }
    this.drawn = gauge;
    const share = shareOf(gauge);
    const percent = `${gauge.estimated ? "~" : ""}${formatShare(share)}`;
    const left = formatTokens(Math.max(0, gauge.threshold - gauge.used));
    this.element.className = `meter ${gauge.level}`;
    this.element.title = t("Context {percent} full, {left} tokens left. Show what it is made of", { percent, left });
    this.element.setAttribute("aria-label", this.element.title);
    this.text.textContent = percent;
    this.fill.style.width = `${Math.min(100, share * 100)}%`;
  }
}
