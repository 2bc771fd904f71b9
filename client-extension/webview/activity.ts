/** The line below the newest item: working, compacting, or waiting to try again. */

import type { RetryInfo, SessionState } from "../src/protocol";
import { element, icon, setChildren } from "./dom";
import type { SessionView } from "./state";

export class Activity {
  readonly element = element("div", { className: "activity" });
  private countdown: ReturnType<typeof setInterval> | undefined;
  private drawn: [SessionState, RetryInfo | undefined, boolean] | undefined;

  update(session: SessionView): void {
    const waits = session.items.some((item) => item.kind === "toolCall" && item.status === "awaiting_permission");
    const next: NonNullable<typeof this.drawn> = [session.state, session.retry, waits];
    if (this.drawn?.every((value, index) => value === next[index])) {
      return;
    }
    this.drawn = next;
    clearInterval(this.countdown);
    this.element.hidden = session.state === "idle" || waits;
    if (session.retry !== undefined) {
      const { retry } = session;
      this.drawRetry(retry);
      this.countdown = setInterval(() => this.drawRetry(retry), 1000);
    } else {
      this.draw(session.state === "compacting" ? "Compacting" : "Working");
    }
  }

  private drawRetry(retry: RetryInfo): void {
    const seconds = Math.max(0, Math.ceil(retry.at - Date.now() / 1000));
    const when = seconds === 0 ? "now" : `in ${seconds} s`;
    setChildren(
      this.element,
      icon("history"),
      element("span", { textContent: `${retry.reason}. Trying again ${when} (attempt ${retry.attempt})` }),
    );
  }

  private draw(text: string): void {
    const dots = element("span", { className: "dots", attributes: { "aria-hidden": "true" } }, element("i"), element("i"), element("i"));
    setChildren(this.element, dots, element("span", { textContent: text }));
  }
}
