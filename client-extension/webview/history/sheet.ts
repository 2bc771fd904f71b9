/**
 * What lies over the conversation while the user looks at it: the preview of a compaction, or the timeline. One at a time. And lists that may have
 * thousands of rows, of which a part stands in the page; the next one comes when the user asks for it.
 */

import { t } from "../../src/l10n";
import { element, iconButton, setChildren, textButton } from "../dom";

/** What is shown on the sheet. */
interface SheetContent {
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
      label: t("The agent waits for you: show it"),
      icon: "question",
      className: "sheet-waiting",
      onClick: () => this.waitingItem !== undefined && showItem(this.waitingItem),
    });
    this.waiting.hidden = true;
  }

  /** Says that an item below the sheet waits for an approval; undefined if none does. */
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
    const close = iconButton({ label: t("Close"), icon: "close", title: t("Close (Escape)"), onClick: () => void this.close() });
    const head = element("div", { className: "sheet-head" }, element("h2", { textContent: content.title }), close);
    content.body.classList.add("sheet-body");
    content.body.tabIndex = 0; // it scrolls by itself, so the keyboard has to get there
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

/** Rows that come at a time. */
const ROWS = 200;

/** A list whose rows are all known. */
export function longList<Row>(className: string, label: string, rows: readonly Row[], draw: (row: Row) => HTMLElement): HTMLElement {
  const list = element("ul", { className: `rows ${className}`, attributes: { "aria-label": label } });
  const place = element("div", { className: "long-list" }, list);
  let shown = 0;
  const more = textButton({ label: "", className: "link", onClick: () => extend() });
  const extend = () => {
    const first = shown;
    shown = Math.min(rows.length, shown + ROWS);
    list.append(...rows.slice(first, shown).map(draw));
    const left = rows.length - shown;
    more.lastElementChild?.replaceChildren(t("Show {count} more of {left}", { count: Math.min(ROWS, left), left }));
    more.hidden = left === 0;
    if (first > 0) {
      // The button may be gone, and the focus with it.
      list.children[first]?.querySelector("button")?.focus();
    }
  };
  extend();
  place.append(more);
  return place;
}

export interface Pages<Row> {
  className: string;
  label: string;
  total: number;
  /** The rows that are known already. */
  first: readonly Row[];
  more: (offset: number) => Promise<readonly Row[]>;
  draw: (row: Row) => HTMLElement;
}

/** A list whose rows are asked for a part at a time. */
export function pagedList<Row>({ className, label, total, first, more, draw }: Pages<Row>): HTMLElement {
  const list = element("ul", { className: `rows ${className}`, attributes: { "aria-label": label } });
  const next = textButton({ label: "", className: "link", onClick: () => void load() });
  const show = (rows: readonly Row[]) => {
    list.append(...rows.map(draw));
    const left = rows.length === 0 ? 0 : total - list.childElementCount;
    next.lastElementChild?.replaceChildren(t("Show {count} more of {left}", { count: Math.min(ROWS, left), left }));
    next.hidden = left <= 0;
  };
  const load = async () => {
    const known = list.childElementCount;
    next.disabled = true;
    const rows = await more(known).catch(() => undefined);
    next.disabled = false;
    if (rows !== undefined) {
      show(rows);
      // The button may be gone, and the focus with it.
      list.children[known]?.querySelector("button")?.focus();
    }
  };
  show(first);
  return element("div", { className: "long-list" }, list, next);
}
