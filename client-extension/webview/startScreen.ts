/** What is seen before there is a conversation: the server is starting or down, or the session is empty. */

import { t } from "../src/l10n";
import { ageOf, titleOf } from "../src/session/sessionRows";
import { visibleLine } from "../src/visible";
import type { SessionSummary } from "../src/protocol";
import type { Actions } from "./actions";
import { element, icon, setChildren, textButton } from "./dom";
import { whatLasts } from "./header";
import type { PanelState } from "./state";

/** What the demo knows its parts by, in every language. */
const TOUR = "Take the tour"; // oxlint-disable-line ullage/untranslated -- the practice model reads it
/** Works in any folder, with a question before the file is written. */
const NOTE = "Write a note"; // oxlint-disable-line ullage/untranslated -- the practice model reads it

/** How many of the sessions before are offered; the list of sessions has all. */
const RECENT = 3;

export class StartScreen {
  readonly element = element("div", { className: "start" });
  private drawn = "";
  /** Sessions before this one, so that it takes one click to go on. */
  private readonly recent = element("section", { className: "recent", hidden: true });
  /** The session whose recent ones are asked for. */
  private asked: string | undefined;

  constructor(private readonly actions: Actions) {}

  update(state: PanelState): void {
    const { server, session } = state;
    const empty = session === undefined || (session.items.length === 0 && session.earlier === 0);
    this.element.hidden = !empty;
    if (!empty) {
      this.asked = undefined;
      this.drawRecent([]);
    } else if (session !== undefined && server.state === "running" && this.asked !== session.sessionId) {
      void this.findRecent(session.sessionId);
    }
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

  private async findRecent(shown: string): Promise<void> {
    this.asked = shown;
    const listed = await this.actions.ask("ullage/session/list", {}).catch(() => undefined);
    if (this.asked === shown) {
      this.drawRecent((listed?.sessions ?? []).filter(({ sessionId, title }) => sessionId !== shown && title !== "").slice(0, RECENT));
    }
  }

  private drawRecent(sessions: readonly SessionSummary[]): void {
    this.recent.hidden = sessions.length === 0;
    const rows = sessions.map((summary) => {
      const title = visibleLine(titleOf(summary));
      return element(
        "li",
        {},
        element(
          "button",
          { type: "button", title, on: { click: () => this.actions.runCommand("ullage.openSession", summary.sessionId) } },
          element("span", { className: "recent-title", textContent: title }),
          element("span", { className: "muted", textContent: ageOf(summary.updatedAt, Date.now() / 1000) }),
        ),
      );
    });
    setChildren(this.recent, rows.length > 0 && element("h3", { textContent: t("Recent sessions") }), element("ul", {}, ...rows));
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
      this.recent,
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
