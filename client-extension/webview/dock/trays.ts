/** What lies above the prompt box while there is some of it: the agent's task list, prompts that wait for their turn, pinned files. */

import { t } from "../../src/l10n";
import type { ForkPrompt, Pins, PlanEntry, UserItem } from "../../src/protocol";
import type { Actions } from "../actions";
import { CHANGES, element, icon, iconButton, setChildren, textButton } from "../dom";
import type { SessionView } from "../state";

const ICONS: Record<PlanEntry["status"], { icon: string; label: string }> = {
  pending: { icon: "circle-large", label: t("to do") },
  in_progress: { icon: "circle-large-filled", label: t("in progress") },
  completed: { icon: "pass-filled", label: t("done") },
};

/** The agent's task list; folded to one line until the user wants all of it. */
export class PlanView {
  private readonly summary = element("summary", { className: "fold" });
  private readonly list = element("ol", { className: "plan-entries" });
  readonly element = element("details", { className: "plan" }, this.summary, this.list);
  private drawn: readonly PlanEntry[] | undefined;

  update(plan: readonly PlanEntry[]): void {
    if (plan === this.drawn) {
      return;
    }
    this.drawn = plan;
    this.element.hidden = plan.length === 0;
    const done = plan.filter((entry) => entry.status === "completed").length;
    const current = plan.find((entry) => entry.status === "in_progress") ?? plan.find((entry) => entry.status === "pending");
    setChildren(
      this.summary,
      icon("chevron-right", "fold-mark"),
      element("span", { className: "plan-current", textContent: current?.content ?? t("All tasks done") }),
      element("span", { className: "muted", textContent: t("{done} of {count}", { done, count: plan.length }) }),
    );
    setChildren(this.list, ...plan.map(drawEntry));
  }
}

function drawEntry(entry: PlanEntry): HTMLElement {
  const { icon: name, label } = ICONS[entry.status];
  const mark = icon(name);
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", label);
  mark.removeAttribute("aria-hidden");
  return element("li", { className: entry.status }, mark, element("span", { textContent: entry.content }));
}

/** Prompts that wait for their turn: take one back, or let it join the running turn. */
export class QueueView {
  readonly element = element("ul", { className: "queue", attributes: { "aria-label": t("Queued prompts") } });
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
      label: t("Steer now"),
      className: "link",
      title: t("Add it to the running turn at its next step"),
      onClick: () => void this.actions.steer(item.id, item.text),
    });
    const remove = iconButton({
      label: t("Remove from the queue"),
      icon: "close",
      onClick: () => void this.actions.send("ullage/session/unqueue", { promptId: item.id }),
    });
    const change = iconButton({
      label: t("Edit: take it back into the prompt box"),
      icon: "edit",
      onClick: () => void this.takeBack(item),
    });
    return element(
      "li",
      {},
      icon("clock"),
      element("span", { className: "queue-text", textContent: item.text, title: item.text }),
      running && (item.steering === true ? element("span", { className: "muted", textContent: t("joins next") }) : steer),
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

/** The files that no compaction touches: open one, or unpin it. Pinned messages show it themselves. */
export class PinsView {
  readonly element = element("ul", { className: "pins", attributes: { "aria-label": t("Pinned files") } });
  private drawn: Pins | undefined;

  constructor(private readonly actions: Actions) {}

  update(pins: Pins | undefined): void {
    if (pins === this.drawn) {
      return;
    }
    this.drawn = pins;
    const paths = pins?.paths ?? [];
    this.element.hidden = paths.length === 0;
    setChildren(this.element, ...paths.map((path) => this.drawPin(path)));
  }

  private drawPin(path: string): HTMLElement {
    const open = element("button", {
      type: "button",
      className: "link-button",
      title: t("{path}: no compaction touches it. Open it", { path }),
      textContent: path.slice(path.lastIndexOf("/") + 1),
    });
    open.addEventListener("click", () => this.actions.openFile(path));
    const unpin = iconButton({
      label: t("Unpin {path}", { path }),
      icon: "close",
      className: CHANGES,
      onClick: () => void this.actions.send("ullage/session/pin", { path, pinned: false }),
    });
    return element("li", { className: "chip" }, icon("pinned"), open, unpin);
  }
}
