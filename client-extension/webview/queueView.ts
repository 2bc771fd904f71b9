/** Prompts that wait for their turn, above the prompt box: take one back, or let it join the running turn. */

import type { UserItem } from "../src/protocol";
import type { Actions } from "./actions";
import { element, icon, iconButton, setChildren, textButton } from "./dom";
import type { SessionView } from "./state";

export class QueueView {
  readonly element = element("ul", { className: "queue", attributes: { "aria-label": "Queued prompts" } });
  private drawn: string | undefined;

  constructor(private readonly actions: Actions) {}

  update(session: SessionView | undefined): void {
    const queued = (session?.items ?? []).filter((item) => item.kind === "user").filter((item) => item.queued);
    const drawn = JSON.stringify([queued, session?.state]);
    if (drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    this.element.hidden = queued.length === 0;
    setChildren(this.element, ...queued.map((item) => this.drawQueued(item, session?.state === "running")));
  }

  private drawQueued(item: UserItem, running: boolean): HTMLElement {
    const steer = textButton({
      label: "Steer now",
      className: "link",
      title: "Let it join the running turn at its next step",
      onClick: () => void this.actions.steer(item.id, item.text),
    });
    const remove = iconButton({
      label: "Remove from the queue",
      icon: "close",
      onClick: () => void this.actions.send("ullage/session/unqueue", { promptId: item.id }),
    });
    return element(
      "li",
      {},
      icon("clock"),
      element("span", { className: "queue-text", textContent: item.text, title: item.text }),
      running && steer,
      remove,
    );
  }
}
