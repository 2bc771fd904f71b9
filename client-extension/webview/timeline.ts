/**
 * The conversation: one view an item, kept by id. Only the newest part stands in the page; the rest comes when the user scrolls up.
 * The end stays in sight as long as the user is at the end.
 */

import type { Item } from "../src/protocol";
import type { Actions } from "./actions";
import { element } from "./dom";
import { makeItemView } from "./items";
import type { ItemView } from "./items/itemView";
import type { SessionView } from "./state";

/** Items that come at a time. */
export const PAGE = 60;

/** Items in the page over which the oldest are taken out again, while the user is at the end. */
const MOST_SHOWN = 3 * PAGE;

/** Pixels from an edge that count as being there. */
const NEAR = 48;

interface Shown {
  item: Item;
  view: ItemView;
}

export class Timeline {
  readonly element = element("div", {
    className: "timeline",
    tabIndex: 0,
    attributes: { role: "log", "aria-label": "Conversation", "aria-live": "off" },
  });
  private readonly list = element("div", { className: "items" });
  private readonly jump = element("button", { type: "button", className: "jump", title: "Go to the end", textContent: "↓ Newest" });
  private readonly shown = new Map<string, Shown>();
  private session: SessionView | undefined;
  /** Id of the oldest item in the page; undefined means the newest page. */
  private oldestShown: string | undefined;
  private atEnd = true;
  /** The user folds or unfolds something: what they clicked stays where it is. */
  private folding = false;

  /** @param foot what stands below the items and scrolls with them. */
  constructor(
    private readonly actions: Actions,
    foot: HTMLElement,
  ) {
    this.element.append(this.list, foot, this.jump);
    this.jump.hidden = true;
    this.jump.addEventListener("click", () => this.goToEnd());
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.list.addEventListener("click", ({ target }) => {
      this.folding = target instanceof Element && target.closest("summary, .tool-header") !== null;
    });
    new ResizeObserver(() => this.listResized()).observe(this.list);
    new ResizeObserver(() => this.keepEnd()).observe(this.element);
  }

  update(session: SessionView): void {
    if (session.sessionId !== this.session?.sessionId) {
      this.shown.clear();
      this.list.replaceChildren();
      this.oldestShown = undefined;
      this.atEnd = true;
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

  goToEnd(): void {
    this.atEnd = true;
    this.jump.hidden = true;
    this.keepEnd();
  }

  private draw(): void {
    const items = this.items();
    const wanted = items.slice(this.firstShown(items));
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

  private viewOf(item: Item): ItemView {
    const known = this.shown.get(item.id);
    if (known === undefined) {
      const view = makeItemView(item, this.actions);
      this.shown.set(item.id, { item, view });
      return view;
    }
    if (known.item !== item) {
      known.item = item;
      known.view.update(item);
    }
    return known.view;
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    this.atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
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

  private listResized(): void {
    if (this.folding) {
      this.folding = false;
      this.scrolled();
    } else {
      this.keepEnd();
    }
  }

  private keepEnd(): void {
    if (this.atEnd) {
      this.element.scrollTop = this.element.scrollHeight;
    }
  }
}
