/**
 * What stands above the conversation: which session this is, and banners for what holds now. The server is down or warns of something, or the
 * practice model answers.
 */

import { plural, t } from "../src/l10n";
import type { ForkOrigin } from "../src/protocol";
import type { ServerStatus } from "../src/server/answers";
import { offersBeside } from "../src/server/warningOffers";
import type { Actions } from "./actions";
import { element, icon, iconButton, setChildren, textButton } from "./dom";
import type { PanelState, SessionView } from "./state";

const NO_OTHERS: PanelState["others"] = new Map();

/** The title of the session, and the way to the others. New ones are made from the view's toolbar. */
export class SessionHeader {
  private readonly title = element("span", { className: "session-title" });
  private readonly button = element("button", { type: "button", className: "session-button" }, this.title, icon("chevron-down"));
  private readonly originTitle = element("span", { className: "session-origin-title" });
  private readonly origin = element(
    "button",
    { type: "button", className: "session-origin" },
    icon("repo-forked"),
    element("span", { textContent: t("Forked from") }),
    this.originTitle,
  );
  private readonly foreign = element(
    "div",
    { className: "session-origin", attributes: { role: "note" } },
    icon("lock"),
    element("span", { textContent: t("Imported, perhaps written by somebody else. Read only") }),
  );
  /** Leads from the log of a sub-agent back to the session that called it. */
  private readonly agentOf = element(
    "button",
    { type: "button", className: "session-origin" },
    icon("arrow-left"),
    element("span", { textContent: t("Log of a sub-agent: go back") }),
  );
  private parent: string | undefined;
  readonly element: HTMLElement;
  private readonly branch = element("span", { className: "session-origin-title" });
  /** Leads to what can be done with the worktree. */
  private readonly worktree = element(
    "button",
    { type: "button", className: "session-origin" },
    icon("git-branch"),
    element("span", { textContent: t("Works in the worktree") }),
    this.branch,
    icon("chevron-down"),
  );
  /** How many other sessions of this window want the user. */
  private readonly others = element("span", { className: "session-others", hidden: true });
  private drawn: string | undefined;
  private forkedFrom: ForkOrigin | undefined;

  constructor(actions: Actions, showSessions: () => void) {
    this.button.insertBefore(this.others, this.button.lastElementChild);
    this.button.addEventListener("click", showSessions);
    this.origin.addEventListener("click", () => {
      if (this.forkedFrom !== undefined) {
        actions.runCommand("ullage.openSession", this.forkedFrom.sessionId);
      }
    });
    this.agentOf.addEventListener("click", () => {
      if (this.parent !== undefined) {
        actions.runCommand("ullage.openSession", this.parent);
      }
    });
    this.worktree.addEventListener("click", () => actions.runCommand("ullage.worktree"));
    this.element = element("header", { className: "session-header" }, this.button, this.origin, this.worktree, this.foreign, this.agentOf);
  }

  update(session: SessionView, attention: PanelState["others"] = NO_OTHERS): void {
    this.element.dataset.sessionId = session.sessionId;
    const others = [...attention].filter(([id]) => id !== session.sessionId).map(([, status]) => status);
    const drawn = JSON.stringify([session.title, session.forkedFrom, session.foreign, session.worktree, session.agentOf, others]);
    if (drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    const title = session.title || t("New session");
    this.title.textContent = title;
    const wanting =
      others.length === 0 ? "" : plural(others.length, t("{count} other session wants you"), t("{count} other sessions want you"));
    this.others.hidden = others.length === 0;
    this.others.dataset.status = others.includes("waiting") ? "waiting" : others.includes("failed") ? "failed" : "done";
    this.others.dataset.count = String(others.length); // drawn by the style: the button's name says it in words
    this.button.title = [t("{title} – show all sessions", { title }), wanting].filter(Boolean).join("\n");
    this.button.setAttribute("aria-label", [t("Session: {title}. Show all", { title }), wanting].filter(Boolean).join(". "));
    this.worktree.hidden = session.worktree == null;
    this.branch.textContent = session.worktree?.branch ?? "";
    this.worktree.title = t("Bring changes back, compare, open or remove");
    this.parent = session.agentOf ?? undefined;
    this.agentOf.hidden = this.parent === undefined;
    this.forkedFrom = this.parent === undefined ? (session.forkedFrom ?? undefined) : undefined;
    this.origin.hidden = this.forkedFrom === undefined;
    this.foreign.hidden = session.foreign !== true;
    this.originTitle.textContent = this.forkedFrom?.title || t("New session");
    this.origin.title = t("Forked from {title} – open it", { title: this.originTitle.textContent });
  }
}

/** What holds now and is not part of the conversation. */
export class Banners {
  readonly element = element("div", { className: "banners" });
  private drawnServer: ServerStatus | undefined;
  private drawnFromBefore = false;
  private drawnWarnings: readonly string[] = [];
  private drawnNote: string | undefined;
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
      state.note === this.drawnNote &&
      practice === this.drawnPractice
    ) {
      return;
    }
    this.drawnServer = state.server;
    this.drawnFromBefore = state.isFromBefore;
    this.drawnWarnings = state.warnings;
    this.drawnNote = state.note;
    this.drawnPractice = practice;
    for (const text of this.closed) {
      if (!state.warnings.includes(text)) {
        this.closed.delete(text); // it was over: when it comes again, it is news
      }
    }
    const warnings = state.warnings.filter((text) => !this.closed.has(text)).map((text) => this.warningBanner(text));
    const note = state.note !== undefined && noteBanner(state.note);
    setChildren(this.element, this.serverBanner(state), ...warnings, note, practice && this.practiceBanner());
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
        element("span", { className: "banner-text", textContent: server.message ?? t("The Ullage server has stopped.") }),
        textButton({ label: t("Restart"), className: "primary", onClick: () => this.actions.runCommand("ullage.restartServer") }),
        textButton({ label: t("Logs"), className: "secondary", onClick: () => this.actions.runCommand("ullage.showLogs") }),
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
    const close = iconButton({
      label: t("Close"),
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
      ...offersBeside(text).map(({ label, command }) =>
        textButton({ label, className: "secondary", onClick: () => this.actions.runCommand(command) }),
      ),
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
        t("Demo: a script answers here, not an AI. "),
        textButton({ label: t("Connect a model"), className: "link", onClick: () => this.actions.runCommand("ullage.setUpModel") }),
      ),
    );
  }
}

function noteBanner(text: string): HTMLElement {
  const said = element("span", { className: "banner-text", textContent: text });
  return element("div", { className: "banner note", attributes: { role: "status" } }, icon("check"), said);
}

/** What one waits for until the session is there. */
export function whatLasts(server: ServerStatus): string {
  return server.state === "running" ? t("Opening the session…") : t("Starting the Ullage server…");
}
