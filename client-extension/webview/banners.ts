/** What stands above the conversation while it holds: the server is down, or the practice model answers. */

import type { ServerStatus } from "../src/serverStatus";
import type { Actions } from "./actions";
import { element, icon, setChildren, textButton } from "./dom";
import type { PanelState } from "./state";

export class Banners {
  readonly element = element("div", { className: "banners" });
  private drawnServer: ServerStatus | undefined;
  private drawnPractice = false;

  constructor(private readonly actions: Actions) {}

  update(state: PanelState): void {
    const practice = state.session?.model.practice === true && state.session.items.length > 0;
    if (state.server === this.drawnServer && practice === this.drawnPractice) {
      return;
    }
    this.drawnServer = state.server;
    this.drawnPractice = practice;
    setChildren(this.element, this.serverBanner(state), practice && this.practiceBanner());
  }

  /** Without a session the start screen says it (`startScreen.ts`). */
  private serverBanner({ server, session }: PanelState): HTMLElement | undefined {
    if (server.state === "running" || session === undefined) {
      return undefined;
    }
    if (server.state === "stopped") {
      return element(
        "div",
        { className: "banner error", attributes: { role: "alert" } },
        icon("error"),
        element("span", { className: "banner-text", textContent: server.message ?? "The Ullage server has stopped." }),
        textButton({ label: "Restart", className: "primary", onClick: () => this.actions.runCommand("ullage.restartServer") }),
        textButton({ label: "Logs", className: "secondary", onClick: () => this.actions.runCommand("ullage.showLogs") }),
      );
    }
    return element(
      "div",
      { className: "banner", attributes: { role: "status" } },
      icon("loading", "codicon-modifier-spin"),
      element("span", { className: "banner-text", textContent: server.message ?? "The Ullage server is starting…" }),
    );
  }

  private practiceBanner(): HTMLElement {
    return element(
      "div",
      { className: "banner practice", attributes: { role: "note" } },
      icon("beaker"),
      element(
        "span",
        { className: "banner-text" },
        "Practice model: no language model answers here. ",
        textButton({ label: "Set API key", className: "link", onClick: () => this.actions.runCommand("ullage.setApiKey") }),
        " or ",
        textButton({ label: "use a local server", className: "link", onClick: () => this.actions.runCommand("ullage.openSettings") }),
      ),
    );
  }
}
