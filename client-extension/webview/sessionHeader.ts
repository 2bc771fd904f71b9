/** The line above the conversation: which session this is, and the way to the others. New ones are made from the view's toolbar. */

import type { Actions } from "./actions";
import { element, icon } from "./dom";
import type { ForkOrigin } from "../src/protocol";
import type { SessionView } from "./state";

export class SessionHeader {
  private readonly title = element("span", { className: "session-title" });
  private readonly button = element("button", { type: "button", className: "session-button" }, this.title, icon("chevron-down"));
  private readonly originTitle = element("span", { className: "session-origin-title" });
  private readonly origin = element(
    "button",
    { type: "button", className: "session-origin" },
    icon("repo-forked"),
    element("span", { textContent: "Forked from" }),
    this.originTitle,
  );
  private readonly foreign = element(
    "div",
    { className: "session-origin", attributes: { role: "note" } },
    icon("lock"),
    element("span", { textContent: "Imported, perhaps written by somebody else. Read only" }),
  );
  readonly element: HTMLElement;
  private drawn: string | undefined;
  private forkedFrom: ForkOrigin | undefined;

  constructor(actions: Actions) {
    this.button.addEventListener("click", () => actions.runCommand("ullage.openSession"));
    this.origin.addEventListener("click", () => {
      if (this.forkedFrom !== undefined) {
        actions.runCommand("ullage.openSession", this.forkedFrom.sessionId);
      }
    });
    this.element = element("header", { className: "session-header" }, this.button, this.origin, this.foreign);
  }

  update(session: SessionView): void {
    const drawn = JSON.stringify([session.title, session.forkedFrom, session.foreign]);
    if (drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    const title = session.title || "New session";
    this.title.textContent = title;
    this.button.title = `${title} – open another session`;
    this.button.setAttribute("aria-label", `Session: ${title}. Open another`);
    this.forkedFrom = session.forkedFrom ?? undefined;
    this.origin.hidden = this.forkedFrom === undefined;
    this.foreign.hidden = session.foreign !== true;
    this.originTitle.textContent = this.forkedFrom?.title || "New session";
    this.origin.title = `Forked from ${this.originTitle.textContent} – open it`;
  }
}
