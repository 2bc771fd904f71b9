/**
 * What every kind of item has in common in the conversation: its view, what can be done at it (fork, pin, exclude, copy), and a mark for what
 * became of it.
 */

import { t } from "../../src/l10n";
import type { Item, TurnChanges, TurnCost } from "../../src/protocol";
import type { Actions } from "../actions";
import { CHANGES, element, icon, iconButton, setChildren } from "../dom";
import { EXCLUDED, FATES, type Mark, NO_MARK } from "../history/fates";

/** The DOM of one item. It lives as long as the item is shown, so what the user unfolded stays unfolded. */
export interface ItemView<Kind extends Item = Item> {
  readonly element: HTMLElement;
  update(item: Kind): void;
  /** At what a user took out by hand: leads to the item that it is about; undefined if there is none. */
  showAbout?(itemId: string | undefined): void;
}

/** The same with what became of the item. */
export interface MarkedView extends ItemView {
  mark(mark: Mark): void;
  /** Whether it is the prompt of a turn that changed files, and what a turn changed that ended with it. */
  changed(began: boolean, ended: TurnChanges | undefined): void;
  /** What the turn cost that ended with it. */
  cost(ended: TurnCost | undefined): void;
}

export type MakeItemView<Kind extends Item> = (item: Kind, actions: Actions) => ItemView<Kind>;

const FORK = t("Fork from here: continue from this point in a new session");
const ENDED = new Set(["completed", "failed", "cancelled"]);

/** Whether the model sees, or saw, what the item shows as a message of its own: a prompt, a text of the model, a result. */
function isMarkable(item: Item): boolean {
  return item.kind === "user" || item.kind === "assistant" || (item.kind === "toolCall" && ENDED.has(item.status));
}

/** Puts buttons and mark into the element of an item. They are there from the moment the item can be marked. */
export class Marking {
  private readonly mark = element("span", { className: "item-mark" });
  private readonly tools = element("div", { className: "item-tools", attributes: { role: "group", "aria-label": t("This message") } });
  private readonly pin: HTMLButtonElement;
  private readonly exclude: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private drawn: Mark = NO_MARK;
  private latest: Item;

  constructor(
    private readonly root: HTMLElement,
    item: Item,
    actions: Actions,
  ) {
    const itemId = item.id;
    this.pin = iconButton({
      label: t("Pin"),
      icon: "pin",
      className: "pin",
      onClick: () => void actions.send("ullage/session/pin", { itemId, pinned: !this.drawn.pinned }),
    });
    this.exclude = iconButton({
      label: t("Exclude: the model no longer sees it"),
      icon: "eye-closed",
      className: "exclude",
      onClick: () => void actions.send("ullage/session/exclude", { itemId }),
    });
    this.back = iconButton({
      label: t("Go back to before this: files, conversation, or both"),
      icon: "history",
      className: "back",
      onClick: () => actions.runCommand("ullage.goBack", itemId),
    });
    this.back.hidden = true;
    const fork =
      item.kind === "user"
        ? iconButton({
            label: t("Edit and send again: in a fork from before this prompt"),
            icon: "edit",
            className: "fork",
            onClick: () => actions.editPrompt(itemId),
          })
        : iconButton({
            label: FORK,
            icon: "repo-forked",
            className: "fork",
            onClick: () => actions.runCommand("ullage.forkSession", itemId),
          });
    this.latest = item;
    if (item.kind !== "toolCall") {
      const copy = iconButton({
        label: t("Copy this message"),
        icon: "copy",
        className: "copy",
        onClick: () => actions.copy(textOf(this.latest)),
      });
      this.tools.append(copy);
    }
    if (item.kind === "user" && item.attachments.length === 0) {
      const again = iconButton({
        label: t("Send this prompt again"),
        icon: "refresh",
        className: `again ${CHANGES}`,
        onClick: () => void actions.prompt(textOf(this.latest), [], "queue"),
      });
      this.tools.append(again);
    }
    for (const change of [this.pin, this.exclude, this.back, fork]) {
      change.classList.add(CHANGES);
    }
    // What is pinned shows its pin always: at the edge it stays where it is when the other comes and goes.
    this.tools.append(...(item.kind === "user" ? [this.back] : []), fork, this.exclude, this.pin);
    this.mark.hidden = true;
    this.drawPin();
    this.update(item);
  }

  update(item: Item): void {
    this.latest = item;
    if (isMarkable(item) && !this.tools.isConnected && this.tools.parentElement === null) {
      this.root.prepend(this.mark);
      this.root.append(this.tools);
    }
  }

  show(mark: Mark): void {
    if (mark === this.drawn) {
      return;
    }
    this.drawn = mark;
    this.drawPin();
    const { gone } = mark;
    this.mark.hidden = gone === undefined;
    this.mark.title = gone === undefined ? "" : `${capital(gone.word)}. ${gone.meaning}`;
    this.mark.classList.toggle("by-hand", gone === EXCLUDED);
    setChildren(this.mark, gone && icon(gone.icon), gone && element("span", { className: "item-mark-word", textContent: gone.word }));
    // What a summary stands for can still be taken out: the summary may quote it.
    const canGo = gone === undefined || gone === FATES.summarised;
    if (!canGo && this.exclude.matches(":focus")) {
      this.pin.focus();
    }
    this.exclude.hidden = !canGo;
    this.root.toggleAttribute("data-pinned", mark.pinned);
    this.root.toggleAttribute("data-gone", gone !== undefined);
  }

  /** At a prompt whose turn changed files: the way back to before it. */
  showWayBack(isThere: boolean): void {
    this.back.hidden = !isThere;
  }

  private drawPin(): void {
    const { pinned } = this.drawn;
    const label = pinned ? t("Unpin") : t("Pin: no compaction touches it");
    this.pin.title = pinned ? t("Pinned: no compaction touches it. Unpin") : label;
    this.pin.setAttribute("aria-label", label);
    setChildren(this.pin, icon(pinned ? "pinned" : "pin"));
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function textOf(item: Item): string {
  return "text" in item ? item.text : "";
}
