/** Prompts that wait for their turn, above the prompt box: take one back, or let it join the running turn. */

import type { ForkPrompt, UserItem } from "../src/protocol";
import type { Actions } from "./actions";
import { element, icon, iconButton, setChildren, textButton } from "./dom";
import type { SessionView } from "./state";

export class QueueView {
  readonly element = element("ul", { className: "queue", attributes: { "aria-label": "Queued prompts" } });
  private drawn: string | undefined;

  /** @param edit puts a prompt that was taken back into the prompt box. */
  constructor(
    private readonly actions: Actions,
    private readonly edit: (prompt: ForkPrompt) => void,
  ) {}

  update(session: SessionView | undefined): void {
    const queued = (session?.items ?? [])
      .filter((item) => item.kind === "user")
      .filter((item) => item.queued)
      .toSorted(asSent);
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
      title: "Add it to the running turn at its next step",
      onClick: () => void this.actions.steer(item.id, item.text),
    });
    const remove = iconButton({
      label: "Remove from the queue",
      icon: "close",
      onClick: () => void this.actions.send("ullage/session/unqueue", { promptId: item.id }),
    });
    const change = iconButton({ label: "Edit: take it back into the prompt box", icon: "edit", onClick: () => void this.takeBack(item) });
    return element(
      "li",
      {},
      icon("clock"),
      element("span", { className: "queue-text", textContent: item.text, title: item.text }),
      running && (item.steering === true ? element("span", { className: "muted", textContent: "joins next" }) : steer),
      change,
      remove,
    );
  }

  private async takeBack(item: UserItem): Promise<void> {
    const attachments = await this.actions.takeBack(item.id);
    if (attachments !== undefined) {
      this.edit({ text: item.text, attachments: [...attachments] });
    }
  }
}

/** Those that join the running turn go first. */
function asSent(one: UserItem, other: UserItem): number {
  return Number(other.steering === true) - Number(one.steering === true);
}
