/** The line above the conversation: which session this is, and the way to the others. */

import type { Actions } from "./actions";
import { element, icon, iconButton } from "./dom";
import type { SessionView } from "./state";

export class SessionHeader {
  private readonly title = element("span", { className: "session-title" });
  private readonly button = element("button", { type: "button", className: "session-button" }, this.title, icon("chevron-down"));
  readonly element: HTMLElement;

  constructor(actions: Actions) {
    this.button.addEventListener("click", () => actions.runCommand("ullage.openSession"));
    const add = iconButton({ label: "New session", icon: "add", onClick: () => actions.runCommand("ullage.newSession") });
    this.element = element("header", { className: "session-header" }, this.button, add);
  }

  update(session: SessionView): void {
    const title = session.title || "New session";
    this.title.textContent = title;
    this.button.title = `${title} – open another session`;
    this.button.setAttribute("aria-label", `Session: ${title}. Open another`);
  }
}
