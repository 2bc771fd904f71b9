/**
 * The conversation: one view an item, kept by id. Only a part stands in the page, mostly the newest; the rest comes when the user scrolls.
 * The end stays in sight as long as the user is at the end.
 */

import type { Item } from "../src/protocol";
import type { Actions } from "./actions";
import { element } from "./dom";
import { marksOf, NO_MARK, type Mark } from "./fates";
import { makeItemView } from "./items";
import type { MarkedView } from "./items/itemView";
import type { SessionView } from "./state";

/** Items that come at a time. */
export const PAGE = 60;

/** Items in the page over which the oldest are taken out again, while the user is at the end. */
const MOST_SHOWN = 3 * PAGE;

/** Pixels from an edge that count as being there. */
const NEAR = 48;

interface Shown {
  item: Item;
  view: MarkedView;
}

/** Items shown before one that is looked up. */
const LEAD = 20;

export class Timeline {
  readonly element = element("div", {
    className: "timeline",
    tabIndex: 0,
    attributes: { role: "log", "aria-label": "Conversation", "aria-live": "off" },
  });
  private readonly list = element("div", { className: "items" });
  /** Leads to the end; stands below the conversation and covers none of it. Hidden while the user is there. */
  readonly jump = element("button", { type: "button", className: "jump", title: "Go to the end", textContent: "↓ Newest" });
  private readonly shown = new Map<string, Shown>();
  private session: SessionView | undefined;
  /** Id of the oldest item in the page; undefined means the newest page. */
  private oldestShown: string | undefined;
  /** Id of the newest item in the page; undefined means all to the end. Set where the user looks up something far back. */
  private newestShown: string | undefined;
  private marks: ReadonlyMap<string, Mark> = new Map();
  private atEnd = true;
  /** Where the beginning of a long question is kept in sight, which counts as the end. */
  private keptAt: number | undefined;
  /** What the user folds or unfolds: it stays where they clicked it, and what comes to light is brought into view. */
  private folding: HTMLElement | undefined;

  /** @param foot what stands below the items and scrolls with them. */
  constructor(
    private readonly actions: Actions,
    foot: HTMLElement,
  ) {
    this.element.append(this.list, foot);
    this.jump.hidden = true;
    this.jump.addEventListener("click", () => this.goToEnd());
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.list.addEventListener("click", ({ target }) => {
      this.folding = (target instanceof Element && target.closest("summary, .tool-header")?.parentElement) || undefined;
    });
    new ResizeObserver(() => this.listResized()).observe(this.list);
    new ResizeObserver(() => this.keepEnd()).observe(this.element);
  }

  update(session: SessionView): void {
    if (session.sessionId !== this.session?.sessionId) {
      this.shown.clear();
      this.list.replaceChildren();
      this.oldestShown = undefined;
      this.newestShown = undefined;
      this.atEnd = true;
      this.jump.hidden = true;
    }
    if (session.pins !== this.session?.pins || session.history !== this.session.history) {
      this.marks = marksOf(session.pins, session.history);
    }
    const earlierCame = session.earlier !== this.session?.earlier;
    this.session = session;
    if (this.atEnd && this.shown.size > MOST_SHOWN) {
      this.oldestShown = undefined;
    }
    this.draw();
    this.keepEnd();
    if (earlierCame && !this.atEnd && this.element.scrollTop < NEAR) {
      this.showEarlier();
    }
  }

  /** Scrolls to an item, and points it out. False where it is not among the items of the session that are known. */
  reveal(itemId: string): boolean {
    const items = this.items();
    const index = items.findIndex((item) => item.id === itemId);
    if (index < 0) {
      return false;
    }
    if (!this.shown.has(itemId)) {
      const isFar = items.length - index > MOST_SHOWN;
      this.oldestShown = items[Math.max(0, index - LEAD)]?.id;
      this.newestShown = isFar ? items[Math.min(items.length - 1, index + PAGE)]?.id : undefined;
    }
    this.atEnd = false;
    this.draw();
    const found = this.shown.get(itemId)?.view.element;
    found?.scrollIntoView({ block: "center" });
    found?.setAttribute("tabindex", "-1");
    found?.focus({ preventScroll: true });
    found?.classList.remove("revealed");
    requestAnimationFrame(() => found?.classList.add("revealed"));
    this.jump.hidden = this.newestShown === undefined && this.element.scrollHeight <= this.element.clientHeight;
    return true;
  }

  goToEnd(): void {
    if (this.newestShown !== undefined) {
      this.oldestShown = undefined;
      this.newestShown = undefined;
      this.draw();
    }
    this.atEnd = true;
    this.jump.hidden = true;
    this.keepEnd();
  }

  private draw(): void {
    const items = this.items();
    const wanted = items.slice(this.firstShown(items), this.lastShown(items) + 1);
    this.oldestShown = wanted[0]?.id;
    const ids = new Set(wanted.map((item) => item.id));
    for (const [id, { view }] of this.shown) {
      if (!ids.has(id)) {
        view.element.remove();
        this.shown.delete(id);
      }
    }
    let next = this.list.firstElementChild;
    for (const item of wanted) {
      const view = this.viewOf(item);
      if (view.element === next) {
        next = next.nextElementSibling;
      } else {
        this.list.insertBefore(view.element, next);
      }
    }
  }

  /** Without queued prompts: those stand above the prompt box (`queueView.ts`). */
  private items(): readonly Item[] {
    return this.session?.items.filter((item) => !(item.kind === "user" && item.queued)) ?? [];
  }

  private firstShown(items: readonly Item[]): number {
    const known = this.oldestShown === undefined ? -1 : items.findIndex((item) => item.id === this.oldestShown);
    return known >= 0 ? known : Math.max(0, items.length - PAGE);
  }

  private lastShown(items: readonly Item[]): number {
    const known = this.newestShown === undefined ? -1 : items.findIndex((item) => item.id === this.newestShown);
    return known >= 0 ? known : items.length - 1;
  }

  private viewOf(item: Item): MarkedView {
    let known = this.shown.get(item.id);
    if (known === undefined) {
      known = { item, view: makeItemView(item, this.actions) };
      this.shown.set(item.id, known);
    } else if (known.item !== item) {
      known.item = item;
      known.view.update(item);
    }
    known.view.mark(this.marks.get(item.id) ?? NO_MARK);
    return known.view;
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    const atBottom = scrollHeight - scrollTop - clientHeight < NEAR || scrollTop === this.keptAt;
    if (atBottom && this.newestShown !== undefined) {
      this.showLater();
      return;
    }
    this.atEnd = atBottom;
    this.keptAt = atBottom ? this.keptAt : undefined;
    this.jump.hidden = this.atEnd;
    if (scrollTop < NEAR && scrollHeight > clientHeight) {
      this.showEarlier();
    }
  }

  private showEarlier(): void {
    const items = this.items();
    const first = this.firstShown(items);
    if (first > 0) {
      const before = this.element.scrollHeight;
      this.oldestShown = items[Math.max(0, first - PAGE)]?.id;
      this.draw();
      this.element.scrollTop += this.element.scrollHeight - before;
    } else if (this.session !== undefined && this.session.earlier > 0) {
      this.actions.loadEarlier();
    }
  }

  private showLater(): void {
    const items = this.items();
    const next = this.lastShown(items) + PAGE;
    this.newestShown = next < items.length - 1 ? items[next]?.id : undefined;
    this.draw();
  }

  private listResized(): void {
    if (this.folding !== undefined) {
      if (isUnfolded(this.folding)) {
        this.folding.scrollIntoView({ block: "nearest" });
      }
      this.folding = undefined;
      this.scrolled();
    } else {
      this.keepEnd();
    }
  }

  /** Of a question that is longer than what shows, the beginning: its buttons stay in sight below it (`tool.css`). */
  private keepEnd(): void {
    if (this.atEnd) {
      const asked = [...this.list.querySelectorAll<HTMLElement>(".tool.awaiting_permission")].at(-1);
      const isLong = asked !== undefined && asked.offsetHeight > this.element.clientHeight;
      this.element.scrollTop = isLong ? asked.offsetTop : this.element.scrollHeight;
      this.keptAt = isLong ? this.element.scrollTop : undefined;
    }
  }
}

/** Whether a `details`, or what a tool call shows below its line, is open. */
function isUnfolded(part: HTMLElement): boolean {
  return part.hasAttribute("open") || part.querySelector(':scope > [aria-expanded="true"]') !== null;
}
