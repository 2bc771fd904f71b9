/** What lies over the conversation while the user looks at it: the preview of a compaction, or the timeline. One at a time. */

import { element, iconButton, setChildren, textButton } from "./dom";

/** What is shown on the sheet. */
export interface SheetContent {
  title: string;
  body: HTMLElement;
  /** Stays in sight below the body. */
  foot?: HTMLElement;
  /** It was closed, or something else took its place. */
  closed?: () => void;
}

export class Sheet {
  readonly element = element("section", { className: "sheet", tabIndex: -1, hidden: true });
  private content: SheetContent | undefined;
  /** Below the sheet something waits for the user. */
  private readonly waiting: HTMLButtonElement;
  private waitingItem: string | undefined;

  /**
   * @param changed called after it was opened or closed.
   * @param showItem leads to an item below the sheet.
   */
  constructor(
    private readonly changed: (isOpen: boolean) => void,
    showItem: (itemId: string) => void,
  ) {
    this.waiting = textButton({
      label: "Waiting for your approval: show it",
      icon: "question",
      className: "sheet-waiting",
      onClick: () => this.waitingItem !== undefined && showItem(this.waitingItem),
    });
    this.waiting.hidden = true;
  }

  /** Says that an item below the sheet waits for an approval; undefined where none does. */
  showWaiting(itemId: string | undefined): void {
    this.waitingItem = itemId;
    this.waiting.hidden = itemId === undefined;
  }

  /** What is shown; undefined while it is closed. */
  get shows(): SheetContent | undefined {
    return this.content;
  }

  /** Shows something, in the place of what is there, and moves the focus to it. */
  open(content: SheetContent): void {
    this.content?.closed?.();
    this.content = content;
    const close = iconButton({ label: "Close", icon: "close", title: "Close (Escape)", onClick: () => void this.close() });
    const head = element("div", { className: "sheet-head" }, element("h2", { textContent: content.title }), close);
    content.body.classList.add("sheet-body");
    this.element.setAttribute("aria-label", content.title);
    this.element.hidden = false;
    setChildren(this.element, head, this.waiting, content.body, content.foot);
    this.changed(true);
    this.element.focus();
  }

  /** Gives whether it was open. */
  close(): boolean {
    const { content } = this;
    if (content === undefined) {
      return false;
    }
    this.content = undefined;
    this.element.hidden = true;
    this.element.replaceChildren();
    content.closed?.();
    this.changed(false);
    return true;
  }
}
