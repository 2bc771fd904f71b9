/**
 * The rows of the conversation that stand in the page, and empty space in the place of the others. A row that goes is forgotten, but for what
 * the user has touched: what they unfolded or wrote is there when it comes back.
 */

import type { Item } from "../src/protocol";
import type { Actions } from "./actions";
import { element } from "./dom";
import { NO_MARK, type Mark } from "./fates";
import { makeItemView } from "./items";
import type { MarkedView } from "./items/itemView";
import { RowHeights, type Range } from "./rowHeights";

/** Rows that are kept for what is selected in them. */
const MOST_SELECTED = 300;

interface Row {
  item: Item;
  view: MarkedView;
}

export class Rows {
  readonly element = element("div", { className: "items" });
  readonly heights = new RowHeights();
  private readonly inPage = new Map<string, Row>();
  /** What the user touched, while it is out of the page. */
  private readonly putAside = new Map<string, Row>();
  private readonly touched = new Set<string>();
  private readonly spaces: HTMLElement[] = [];

  constructor(private readonly actions: Actions) {
    for (const event of ["click", "input"]) {
      this.element.addEventListener(event, ({ target }) => {
        const id = rowOf(target)?.dataset.itemId;
        if (id !== undefined) {
          this.touched.add(id);
        }
      });
    }
  }

  /** The element of an item that stands in the page. */
  find(itemId: string): HTMLElement | undefined {
    return this.inPage.get(itemId)?.view.element;
  }

  /** Makes views of items that are about to come into the page. */
  prepare(...items: readonly (Item | undefined)[]): void {
    for (const item of items) {
      if (item !== undefined && !this.inPage.has(item.id) && !this.putAside.has(item.id)) {
        this.putAside.set(item.id, { item, view: makeItemView(item, this.actions) });
      }
    }
  }

  /** Puts the rows of a range into the page, and takes out all others that nobody uses right now. */
  draw(items: readonly Item[], { first, last }: Range, marks: ReadonlyMap<string, Mark>): void {
    const held = this.heldRows(items);
    const wanted: number[] = [];
    for (const index of held) {
      if (index < first) {
        wanted.push(index);
      }
    }
    for (let index = first; index <= last; index += 1) {
      wanted.push(index);
    }
    for (const index of held) {
      if (index > last) {
        wanted.push(index);
      }
    }
    const rows = wanted.flatMap((index) => items[index] ?? []);
    const ids = new Set(rows.map(({ id }) => id));
    for (const [id, row] of this.inPage) {
      if (!ids.has(id)) {
        this.takeOut(id, row);
      }
    }
    let next = this.element.firstElementChild;
    const put = (child: Element) => {
      if (child === next) {
        next = next.nextElementSibling;
      } else {
        this.element.insertBefore(child, next);
      }
    };
    let spaces = 0;
    const putSpace = (from: number, to: number) => {
      if (to > from) {
        const space = (this.spaces[spaces] ??= element("div", { className: "space-of-rows", attributes: { "aria-hidden": "true" } }));
        spaces += 1;
        space.style.height = `${this.heights.between(items, from, to)}px`;
        put(space);
      }
    };
    let index = 0;
    for (const [at, item] of rows.entries()) {
      const own = wanted[at] ?? index;
      putSpace(index, own);
      put(this.rowOf(item, marks).view.element);
      index = own + 1;
    }
    putSpace(index, items.length);
    for (const space of this.spaces.splice(spaces)) {
      space.remove();
    }
  }

  /** Takes the heights from the page. To be called when it is laid out. */
  measure(): void {
    for (const { item, view } of this.inPage.values()) {
      const next = view.element.nextElementSibling;
      const height = next instanceof HTMLElement ? next.offsetTop - view.element.offsetTop : view.element.offsetHeight;
      if (height > 0) {
        this.heights.measure(item, height);
      }
    }
  }

  private rowOf(item: Item, marks: ReadonlyMap<string, Mark>): Row {
    let row = this.inPage.get(item.id) ?? this.putAside.get(item.id);
    if (row === undefined) {
      row = { item, view: makeItemView(item, this.actions) };
    } else if (row.item !== item) {
      row.item = item;
      row.view.update(item);
    }
    this.inPage.set(item.id, row);
    this.putAside.delete(item.id);
    row.view.mark(marks.get(item.id) ?? NO_MARK);
    return row;
  }

  private takeOut(id: string, row: Row): void {
    row.view.element.remove();
    this.inPage.delete(id);
    if (this.touched.has(id)) {
      this.putAside.set(id, row);
    }
  }

  /** Where the focus is, and what is selected: indices in the order of the items. */
  private heldRows(items: readonly Item[]): number[] {
    const indexOf = (node: Node | null | undefined) => {
      const id = rowOf(node)?.dataset.itemId;
      return id === undefined || !this.inPage.has(id) ? -1 : items.findIndex((item) => item.id === id);
    };
    const held = new Set<number>();
    const focused = indexOf(document.activeElement);
    if (focused >= 0) {
      held.add(focused);
    }
    const selection = document.getSelection?.();
    if (selection != null && !selection.isCollapsed) {
      const ends = [indexOf(selection.anchorNode), indexOf(selection.focusNode)].filter((index) => index >= 0).toSorted((a, b) => a - b);
      const [from, to = from] = ends;
      if (from !== undefined && to !== undefined) {
        for (let index = from; index <= Math.min(to, from + MOST_SELECTED); index += 1) {
          held.add(index);
        }
      }
    }
    return [...held].toSorted((a, b) => a - b);
  }
}

function rowOf(node: EventTarget | null | undefined): HTMLElement | undefined {
  const nearest = node instanceof Element ? node : node instanceof Node ? node.parentElement : null;
  return nearest?.closest<HTMLElement>("[data-item-id]") ?? undefined;
}
