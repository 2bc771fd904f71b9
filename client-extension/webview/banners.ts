/** What stands above the conversation while it holds: the server is down or warns of something, or the practice model answers. */

import type { ServerStatus } from "../src/serverStatus";
import type { Actions } from "./actions";
import { element, icon, iconButton, setChildren, textButton } from "./dom";
import type { PanelState } from "./state";

export class Banners {
  readonly element = element("div", { className: "banners" });
  private drawnServer: ServerStatus | undefined;
  private drawnFromBefore = false;
  private drawnWarnings: readonly string[] = [];
  private drawnPractice = false;
  /** Warnings that the user has read and closed. */
  private readonly closed = new Set<string>();

  constructor(private readonly actions: Actions) {}

  update(state: PanelState): void {
    const practice = state.session?.model.practice === true && state.session.items.length > 0;
    if (
      state.server === this.drawnServer &&
      state.isFromBefore === this.drawnFromBefore &&
      state.warnings === this.drawnWarnings &&
      practice === this.drawnPractice
    ) {
      return;
    }
    this.drawnServer = state.server;
    this.drawnFromBefore = state.isFromBefore;
    this.drawnWarnings = state.warnings;
    this.drawnPractice = practice;
    const warnings = state.warnings.filter((text) => !this.closed.has(text)).map((text) => this.warningBanner(text));
    setChildren(this.element, this.serverBanner(state), ...warnings, practice && this.practiceBanner());
  }

  /** Without a session the start screen says it (`startScreen.ts`). */
  private serverBanner({ server, session, isFromBefore }: PanelState): HTMLElement | undefined {
    if (session === undefined || (server.state === "running" && !isFromBefore)) {
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
      element("span", { className: "banner-text", textContent: server.message ?? whatLasts(server) }),
    );
  }

  private warningBanner(text: string): HTMLElement {
    const aboutSettings = /\bullage\.\w+\.\w+/.test(text);
    const aboutImport = text.includes("Import Sessions");
    const close = iconButton({
      label: "Close",
      icon: "close",
      onClick: () => {
        this.closed.add(text);
        banner.remove();
      },
    });
    const banner = element(
      "div",
      { className: "banner warning", attributes: { role: "status" } },
      icon("warning"),
      element("span", { className: "banner-text", textContent: text }),
      aboutSettings &&
        textButton({ label: "Open settings", className: "secondary", onClick: () => this.actions.runCommand("ullage.openSettings") }),
      aboutImport &&
        textButton({ label: "Import", className: "secondary", onClick: () => this.actions.runCommand("ullage.importSessions") }),
      close,
    );
    return banner;
  }

  private practiceBanner(): HTMLElement {
    return element(
      "div",
      { className: "banner practice", attributes: { role: "note" } },
      icon("beaker"),
      element(
        "span",
        { className: "banner-text" },
        "Demo: a script answers here, not an AI. ",
        textButton({ label: "Connect a model", className: "link", onClick: () => this.actions.runCommand("ullage.setUpModel") }),
      ),
    );
  }
}

/** What one waits for until the session is there. */
export function whatLasts(server: ServerStatus): string {
  return server.state === "running" ? "Opening the session…" : "Starting the Ullage server…";
}
