/** What a screen reader is told without being asked: finished answers, questions, compactions. Not every chunk of a stream. */

import type { Item } from "../src/protocol";
import { compactionSizes, compactionTitle } from "./items/compactionText";
import { element } from "./dom";
import type { SessionView } from "./state";

export class Announcer {
  private readonly polite = element("div", { attributes: { "aria-live": "polite" } });
  private readonly assertive = element("div", { attributes: { "aria-live": "assertive" } });
  readonly element = element("div", { className: "screen-reader-only" }, this.polite, this.assertive);
  private before: SessionView | undefined;

  update(session: SessionView): void {
    const { before } = this;
    this.before = session;
    if (before === undefined || before.sessionId !== session.sessionId) {
      return;
    }
    const last = session.items.at(-1);
    if (before.state === "running" && session.state === "idle" && last?.kind === "assistant") {
      this.polite.textContent = last.text;
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
      this.assertive.textContent = `Approval needed: ${item.title}. ${item.permissionReason ?? ""}`;
    } else if (item.kind === "compaction" && item.status !== "in_progress") {
      this.polite.textContent = `${compactionTitle(item)} ${compactionSizes(item)}`;
    } else if (item.kind === "notice") {
      this.polite.textContent = item.text;
    }
  }
}
