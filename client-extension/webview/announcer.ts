/** What a screen reader is told without being asked: finished answers, questions, compactions. Not every chunk of a stream. */

import type { Item } from "../src/protocol";
import { compactionSizes, compactionTitle } from "./items/compactionText";
import { element } from "./dom";
import type { SessionView } from "./state";

/** Milliseconds that a screen reader has to pick up what is said. */
const SAID_FOR = 3_000;

export class Announcer {
  private readonly polite = element("div", { attributes: { "aria-live": "polite" } });
  private readonly assertive = element("div", { attributes: { "aria-live": "assertive" } });
  readonly element = element("div", { className: "screen-reader-only" }, this.polite, this.assertive);
  private readonly clearing = new Map<HTMLElement, ReturnType<typeof setTimeout>>();
  private before: SessionView | undefined;

  update(session: SessionView): void {
    const { before } = this;
    this.before = session;
    if (before === undefined || before.sessionId !== session.sessionId) {
      return;
    }
    const last = session.items.at(-1);
    if (before.state === "running" && session.state === "idle" && last?.kind === "assistant") {
      this.say(this.polite, last.text);
    }
    const known = new Map(before.items.slice(-20).map((item) => [item.id, item]));
    for (const item of session.items.slice(-20)) {
      if (known.get(item.id) !== item) {
        this.announce(item, known.get(item.id));
      }
    }
  }

  private announce(item: Item, before: Item | undefined): void {
    if (
      item.kind === "toolCall" &&
      item.status === "awaiting_permission" &&
      !(before?.kind === "toolCall" && before.status === item.status)
    ) {
      this.say(this.assertive, `Approval needed: ${item.title}. ${item.permissionReason ?? ""}`);
    } else if (item.kind === "compaction" && item.status !== "in_progress") {
      this.say(this.polite, `${compactionTitle(item)} ${compactionSizes(item)}`);
    } else if (item.kind === "notice") {
      this.say(this.polite, item.text);
    }
  }

  /** What was said does not stay: who walks through the page would meet it again, and the same words twice would be said once. */
  private say(region: HTMLElement, text: string): void {
    region.textContent = text;
    clearTimeout(this.clearing.get(region));
    this.clearing.set(
      region,
      setTimeout(() => region.replaceChildren(), SAID_FOR),
    );
  }
}
