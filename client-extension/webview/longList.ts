/** A list that may have thousands of rows: a part of them stands in the page, the next part comes when the user asks for it. */

import { element, textButton } from "./dom";

/** Rows that come at a time. */
export const ROWS = 200;

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
    more.lastElementChild?.replaceChildren(`Show ${Math.min(ROWS, left)} more of ${left}`);
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
