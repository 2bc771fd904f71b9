/** What is seen before there is a conversation: the server is starting or down, or the session is empty. */

import { t } from "../src/l10n";
import type { Actions } from "./actions";
import { element, icon, setChildren, textButton } from "./dom";
import { whatLasts } from "./header";
import type { PanelState } from "./state";

/** What the demo knows its parts by, in every language. */
const TOUR = "Take the tour"; // oxlint-disable-line ullage/untranslated -- the practice model reads it
/** Works in any folder, with a question before the file is written. */
const NOTE = "Write a note"; // oxlint-disable-line ullage/untranslated -- the practice model reads it

export class StartScreen {
  readonly element = element("div", { className: "start" });
  private drawn = "";

  constructor(private readonly actions: Actions) {}

  update(state: PanelState): void {
    const { server, session } = state;
    const empty = session === undefined || (session.items.length === 0 && session.earlier === 0);
    this.element.hidden = !empty;
    const drawn = JSON.stringify([empty, session === undefined && server, session?.model.practice]);
    if (!empty || drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    if (session === undefined) {
      setChildren(
        this.element,
        ...(server.state === "stopped" ? this.stopped(server.message) : this.starting(server.message ?? whatLasts(server))),
      );
    } else {
      setChildren(this.element, ...this.empty(session.model.practice));
    }
  }

  private starting(message: string): HTMLElement[] {
    return [icon("loading", "codicon-modifier-spin start-icon"), element("p", { textContent: message })];
  }

  private stopped(message: string | undefined): HTMLElement[] {
    return [
      icon("error", "start-icon error"),
      element("p", { textContent: message ?? t("The Ullage server has stopped."), attributes: { role: "alert" } }),
      element(
        "div",
        { className: "button-row centred" },
        textButton({ label: t("Restart"), className: "primary", onClick: () => this.actions.runCommand("ullage.restartServer") }),
        textButton({ label: t("Show logs"), className: "secondary", onClick: () => this.actions.runCommand("ullage.showLogs") }),
      ),
    ];
  }

  private empty(practice: boolean): HTMLElement[] {
    return [
      element("div", { className: "start-logo", attributes: { "aria-hidden": "true" } }, element("span", {})),
      element("h2", { textContent: t("What shall we work on?") }),
      element("p", {
        className: "muted",
        textContent: t("Ask about this workspace, or give it a task. It asks before it changes anything."),
      }),
      ...(practice ? [this.practiceCard()] : []),
      element(
        "ul",
        { className: "tips" },
        tip("@", t("to attach a file or the problems")),
        tip("/", t("for commands, such as /compact")),
        tip("%", t("how full the context is; click it in the status bar to compact"), "dashboard"),
      ),
    ];
  }

  private practiceCard(): HTMLElement {
    return element(
      "div",
      { className: "practice-card", attributes: { role: "note" } },
      element("p", {}, element("strong", { textContent: t("This is the practice model.") })),
      element("p", {
        className: "muted",
        textContent: t(
          "A scripted demo, not an AI. It plays a short tour, writes a file, or searches your files, all with the real tools. Connect a model whenever you like.",
        ),
      }),
      element(
        "div",
        { className: "button-row" },
        textButton({
          label: t("Take the tour"),
          className: "primary",
          icon: "play",
          onClick: () => void this.actions.prompt(TOUR, [], "queue"),
        }),
        textButton({ label: t("Write a note"), className: "secondary", onClick: () => void this.actions.prompt(NOTE, [], "queue") }),
        textButton({
          label: t("Connect a model"),
          className: "secondary",
          icon: "plug",
          onClick: () => this.actions.runCommand("ullage.setUpModel"),
        }),
      ),
    );
  }
}

function tip(key: string, text: string, iconName?: string): HTMLElement {
  return element("li", {}, element("kbd", {}, iconName === undefined ? key : icon(iconName)), element("span", { textContent: text }));
}
