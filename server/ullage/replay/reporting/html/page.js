"use strict";

/* Without this script the tables are as they are. */

/* Each cell says which column it is of: on a phone, where a row is a card, that stands before it. */
for (const table of document.querySelectorAll("table.figures")) {
  const names = [...table.querySelectorAll("thead th")].map((heading) => heading.textContent);
  for (const cell of table.querySelectorAll("td:not([colspan])")) cell.dataset.label = names[cell.cellIndex];
  table.classList.add("labelled");
}

/* The headings of the tables of policies become buttons that sort them. */
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.querySelectorAll("thead th")];
  const body = table.tBodies[0];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      body.append(...[...body.rows].toSorted((a, b) => compare(a.cells[column], b.cells[column], direction)));
    });
  });
}

/* By number where both have one; cells without a figure come last either way. */
function compare(a, b, direction) {
  if (a.dataset.v !== undefined && b.dataset.v !== undefined) return direction * (Number(a.dataset.v) - Number(b.dataset.v));
  if (a.dataset.v !== undefined || b.dataset.v !== undefined) return a.dataset.v === undefined ? 1 : -1;
  return direction * a.textContent.localeCompare(b.textContent);
}
