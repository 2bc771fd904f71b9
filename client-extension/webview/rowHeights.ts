/** How high the rows of the conversation are: as measured, and until then as others of their kind are. Pure. */

import type { Item } from "../src/protocol";

/** Pixels of a row before one of its kind was measured. */
const USUAL: Readonly<Record<Item["kind"], number>> = { user: 60, assistant: 200, thinking: 32, toolCall: 34, compaction: 90, notice: 40 };

/** From one index to another, both included; empty where the last is before the first. */
export interface Range {
  first: number;
  last: number;
}

export class RowHeights {
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
  rowsIn(items: readonly Item[], top: number, bottom: number): Range {
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
