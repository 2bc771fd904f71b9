/** The line above the conversation: which session this is, and the way to the others. New ones are made from the view's toolbar. */

import type { Actions } from "./actions";
import { element, icon } from "./dom";
import type { SessionView } from "./state";

export class SessionHeader {
  private readonly title = element("span", { className: "session-title" });
  private readonly button = element("button", { type: "button", className: "session-button" }, this.title, icon("chevron-down"));
  readonly element: HTMLElement;

  constructor(actions: Actions) {
    this.button.addEventListener("click", () => actions.runCommand("ullage.openSession"));
    this.element = element("header", { className: "session-header" }, this.button);
  }

  update(session: SessionView): void {
    const title = session.title || "New session";
    this.title.textContent = title;
    this.button.title = `${title} – open another session`;
    this.button.setAttribute("aria-label", `Session: ${title}. Open another`);
  }
}
