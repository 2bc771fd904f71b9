/** What every kind of item has in common in the timeline. */

import type { Item } from "../../src/protocol";
import type { Actions } from "../actions";
import type { Mark } from "../fates";

/** The DOM of one item. It lives as long as the item is shown, so what the user unfolded stays unfolded. */
export interface ItemView<Kind extends Item = Item> {
  readonly element: HTMLElement;
  update(item: Kind): void;
  /** At what a user took out by hand: leads to the item that it is about; undefined where there is none. */
  showAbout?(itemId: string | undefined): void;
}

/** The same with what became of the item. */
export interface MarkedView extends ItemView {
  mark(mark: Mark): void;
}

export type MakeItemView<Kind extends Item> = (item: Kind, actions: Actions) => ItemView<Kind>;
