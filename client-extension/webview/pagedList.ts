/** A list whose rows are asked for a part at a time: the next ones come when the user asks for them. */

import { element, textButton } from "./dom";
import { ROWS } from "./longList";

export interface Pages<Row> {
  className: string;
  label: string;
  total: number;
  /** The rows that are known already. */
  first: readonly Row[];
  more: (offset: number) => Promise<readonly Row[]>;
  draw: (row: Row) => HTMLElement;
}

export function pagedList<Row>({ className, label, total, first, more, draw }: Pages<Row>): HTMLElement {
  const list = element("ul", { className: `rows ${className}`, attributes: { "aria-label": label } });
  const next = textButton({ label: "", className: "link", onClick: () => void load() });
  const show = (rows: readonly Row[]) => {
    list.append(...rows.map(draw));
    const left = rows.length === 0 ? 0 : total - list.childElementCount;
    next.lastElementChild?.replaceChildren(`Show ${Math.min(ROWS, left)} more of ${left}`);
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
