/** A change of one file: added and removed lines, with what surrounds them. */

import type { FileDiff } from "../../src/protocol";
import { visibleLine, visibleText } from "../../src/visible";
import { element } from "../dom";
import { countChanges, diffLines, type DiffLine } from "../lineDiff";

/** Lines shown at first; a longer diff has a button for the rest. */
const FIRST_LINES = 200;

const SIGNS = { same: " ", added: "+", removed: "−", gap: "⋯" } as const;

export interface DrawnDiff {
  element: HTMLElement;
  added: number;
  removed: number;
}

/** The diff as a table that a screen reader can walk. Lines have no numbers: the texts may be parts of their file. */
export function drawDiff(diff: FileDiff): DrawnDiff {
  const lines = diffLines(diff.oldText, diff.newText);
  const body = element("tbody", {}, ...lines.slice(0, FIRST_LINES).map(drawLine));
  const table = element("table", { className: "diff", attributes: { "aria-label": `Changes of ${visibleLine(diff.path)}` } }, body);
  const root = element("div", { className: "diff-scroll", tabIndex: 0 }, table);
  const rest = lines.slice(FIRST_LINES);
  if (rest.length > 0) {
    const more = element("button", { type: "button", className: "link-button", textContent: `Show ${rest.length} more lines` });
    more.addEventListener("click", () => {
      body.append(...rest.map(drawLine));
      more.remove();
    });
    root.append(more);
  }
  return { element: root, ...countChanges(lines) };
}

/** Scrolls past the lines before the first change where they would hide it, but for the end of the last of them. */
export function showFirstChange(diff: HTMLElement): void {
  const change = diff.querySelector<HTMLElement>(".diff-removed, .diff-added");
  if (change !== null && change.offsetTop + change.offsetHeight > diff.clientHeight) {
    diff.scrollTop = change.offsetTop - diff.clientHeight / 4;
  }
}

function drawLine(line: DiffLine): HTMLTableRowElement {
  return element(
    "tr",
    { className: `diff-${line.kind}` },
    element("td", { className: "diff-sign", textContent: SIGNS[line.kind] }),
    element("td", { className: "diff-text", textContent: visibleText(line.text) }),
  );
}
