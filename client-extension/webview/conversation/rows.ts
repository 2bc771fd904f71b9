/**
 * The rows of the conversation that stand in the page, and empty space in the place of the others, as high as these are or as others of their kind
 * were. A row that goes is forgotten, but for what the user has touched: what they unfolded or wrote is there when it comes back. In a row that
 * was looked up, words can be marked.
 */

import type { Item } from "../../src/protocol";
import type { Actions } from "../actions";
import { element } from "../dom";
import { type Mark, NO_MARK } from "../history/fates";
import { makeItemView } from "../items";
import type { MarkedView } from "../items/itemView";
import { type Costs, NO_COSTS } from "./turnCost";
import { NO_TURNS, type Turns } from "./turns";

/** Rows that are kept for what is selected in them. */
const MOST_SELECTED = 300;

/** The turns that changed files: by the ids of their prompts, and of their last items. And what turns cost, by the latter. */
export interface Changed {
  turns: Turns;
  ends: Turns;
  costs: Costs;
}

export const NOTHING_CHANGED: Changed = { turns: NO_TURNS, ends: NO_TURNS, costs: NO_COSTS };

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
  draw(items: readonly Item[], { first, last }: RowRange, marks: ReadonlyMap<string, Mark>, changed: Changed = NOTHING_CHANGED): void {
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
      put(this.rowOf(item, marks, changed).view.element);
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

  private rowOf(item: Item, marks: ReadonlyMap<string, Mark>, { turns, ends, costs }: Changed): Row {
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
    row.view.changed(turns.has(item.id), ends.get(item.id));
    row.view.cost(costs.get(item.id));
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

/** Pixels of a row before one of its kind was measured. */
const USUAL: Readonly<Record<Item["kind"], number>> = { user: 60, assistant: 200, thinking: 32, toolCall: 34, compaction: 90, notice: 40 };

/** From one index to another, both included; empty if the last is before the first. */
export interface RowRange {
  first: number;
  last: number;
}

/** How high rows are: as measured, and until then as others of their kind are. */
class RowHeights {
  private readonly measured = new Map<string, number>();
  private readonly sums = new Map<Item["kind"], { height: number; count: number }>();

  /** Pixels from the top of the row to the top of the next one. */
  of(item: Item): number {
    const known = this.measured.get(item.id);
    if (known !== undefined) {
      return known;
    }
    const sum = this.sums.get(item.kind);
    return sum === undefined ? USUAL[item.kind] : sum.height / sum.count;
  }

  measure(item: Item, height: number): void {
    const before = this.measured.get(item.id);
    if (before === height) {
      return;
    }
    this.measured.set(item.id, height);
    const sum = this.sums.get(item.kind) ?? { height: 0, count: 0 };
    sum.height += height - (before ?? 0);
    sum.count += before === undefined ? 1 : 0;
    this.sums.set(item.kind, sum);
  }

  /** Of the rows from one index to another, the second not included. */
  between(items: readonly Item[], from: number, to: number): number {
    let height = 0;
    for (let index = from; index < to; index += 1) {
      const item = items[index];
      height += item === undefined ? 0 : this.of(item);
    }
    return height;
  }

  /** The rows of which some part lies between two heights, counted from the top of the first row. */
  rowsIn(items: readonly Item[], top: number, bottom: number): RowRange {
    let first = items.length;
    let last = items.length - 1;
    let offset = 0;
    for (const [index, item] of items.entries()) {
      if (offset > bottom) {
        last = index - 1;
        break;
      }
      offset += this.of(item);
      if (offset >= top && first === items.length) {
        first = index;
      }
    }
    return { first: Math.min(first, Math.max(0, items.length - 1)), last };
  }
}

const NAME = "searched";

/** Marks the words in an item until other ones are marked; none takes the marks away. */
export function markWords(item: HTMLElement | null, words: string): void {
  CSS.highlights?.delete(NAME);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (item === null || wanted.length === 0) {
    return;
  }
  if (item instanceof HTMLDetailsElement) {
    item.open = true;
  }
  item.querySelector<HTMLButtonElement>('.tool-header[aria-expanded="false"]')?.click();
  // What was unfolded is drawn by then.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const ranges = rangesOf(item, wanted);
      CSS.highlights?.set(NAME, new Highlight(...ranges));
      ranges[0]?.startContainer.parentElement?.scrollIntoView({ block: "center" });
    }),
  );
}

/** Where one of the words stands in the texts of an element. */
export function rangesOf(root: HTMLElement, wanted: readonly string[]): Range[] {
  const texts = document.createTreeWalker(root, window.NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = (node.textContent ?? "").toLowerCase();
    for (const word of wanted) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
