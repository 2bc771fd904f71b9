/** A change of one file: added and removed lines, with what surrounds them. */

import { plural, t } from "../../src/l10n";
import type { FileDiff } from "../../src/protocol";
import { visibleLine, visibleText } from "../../src/visible";
import { element } from "../dom";

/** Lines shown at first; a longer diff has a button for the rest. */
const FIRST_LINES = 200;

const SIGNS = { same: " ", added: "+", removed: "−", gap: "⋯" } as const;

interface DrawnDiff {
  element: HTMLElement;
  added: number;
  removed: number;
}

/** The diff as a table that a screen reader can walk. Lines have no numbers: the texts may be parts of their file. */
export function drawDiff(diff: FileDiff): DrawnDiff {
  return drawLines(diffLines(diff.oldText, diff.newText), t("Changes of {path}", { path: visibleLine(diff.path) }));
}

/** The same of a unified difference of one file. */
export function drawUnified(text: string, name: string): DrawnDiff {
  return drawLines(unifiedLines(text), name);
}

/** The lines of a unified difference, without its head. */
function unifiedLines(text: string): DiffLine[] {
  const kinds: Record<string, DiffLine["kind"]> = { "+": "added", "-": "removed", " ": "same", "@": "gap" };
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => line.startsWith("@@"));
  const found = (begin < 0 ? [] : lines.slice(begin + 1)).flatMap((line): DiffLine[] => {
    const kind = line === "" ? "same" : kinds[line.charAt(0)];
    return kind === undefined ? [] : [{ kind, text: kind === "gap" ? "" : line.slice(1) }];
  });
  return found;
}

function drawLines(lines: readonly DiffLine[], name: string): DrawnDiff {
  const body = element("tbody", {}, ...lines.slice(0, FIRST_LINES).map(drawLine));
  const table = element("table", { className: "diff", attributes: { "aria-label": name } }, body);
  const root = element("div", { className: "diff-scroll", tabIndex: 0 }, table);
  const rest = lines.slice(FIRST_LINES);
  if (rest.length > 0) {
    const more = element("button", {
      type: "button",
      className: "link-button",
      textContent: plural(rest.length, t("Show {count} more line"), t("Show {count} more lines")),
    });
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

interface DiffLine {
  kind: "same" | "added" | "removed" | "gap";
  /** Empty for a gap. */
  text: string;
}

/** Unchanged lines shown before and after a change. */
const CONTEXT = 3;

/** Over this many cells the middle is shown as removed and added as a whole: a table for it would take too long. */
const MOST_CELLS = 4_000_000;

/** The changed lines with three lines of context around each, and gaps between them. */
export function diffLines(oldText: string, newText: string): DiffLine[] {
  const oldLines = linesOf(oldText);
  const newLines = linesOf(newText);
  let start = 0;
  while (start < oldLines.length && start < newLines.length && oldLines[start] === newLines[start]) {
    start += 1;
  }
  let end = 0;
  while (end < oldLines.length - start && end < newLines.length - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) {
    end += 1;
  }
  const middle = diffMiddle(oldLines.slice(start, oldLines.length - end), newLines.slice(start, newLines.length - end));
  const kinds: DiffLine["kind"][] = [...repeat("same", start), ...middle, ...repeat("same", end)];
  return withContext(withTexts(kinds, oldLines, newLines));
}

/** The first line that is new, with which the change can be found again in its file; empty if lines were only taken out. */
export function changedLine({ oldText, newText }: { oldText: string; newText: string }): string {
  return diffLines(oldText, newText).find(({ kind, text }) => kind === "added" && text.trim() !== "")?.text ?? "";
}

/** How many lines were added and removed. */
export function countChanges(lines: readonly DiffLine[]): { added: number; removed: number } {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") {
    lines.pop();
  }
  return lines;
}

/** Longest common subsequence by the textbook table. */
function diffMiddle(oldLines: readonly string[], newLines: readonly string[]): DiffLine["kind"][] {
  const rows = oldLines.length;
  const columns = newLines.length;
  if (rows * columns > MOST_CELLS) {
    return [...repeat("removed", rows), ...repeat("added", columns)];
  }
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        oldLines[row] === newLines[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const kinds: DiffLine["kind"][] = [];
  let row = 0;
  let column = 0;
  while (row < rows || column < columns) {
    if (row < rows && column < columns && oldLines[row] === newLines[column]) {
      kinds.push("same");
      row += 1;
      column += 1;
    } else if (row < rows && (column === columns || at(row + 1, column) >= at(row, column + 1))) {
      kinds.push("removed");
      row += 1;
    } else {
      kinds.push("added");
      column += 1;
    }
  }
  return kinds;
}

function withTexts(kinds: readonly DiffLine["kind"][], oldLines: readonly string[], newLines: readonly string[]): DiffLine[] {
  let oldIndex = -1;
  let newIndex = -1;
  return kinds.map((kind) => {
    oldIndex += kind === "added" ? 0 : 1;
    newIndex += kind === "removed" ? 0 : 1;
    return { kind, text: (kind === "added" ? newLines[newIndex] : oldLines[oldIndex]) ?? "" };
  });
}

function withContext(lines: readonly DiffLine[]): DiffLine[] {
  const kept = new Set<number>();
  lines.forEach((line, index) => {
    if (line.kind !== "same") {
      for (let near = index - CONTEXT; near <= index + CONTEXT; near += 1) {
        kept.add(near);
      }
    }
  });
  const shown: DiffLine[] = [];
  lines.forEach((line, index) => {
    if (kept.has(index)) {
      if (index > 0 && !kept.has(index - 1)) {
        shown.push({ kind: "gap", text: "" });
      }
      shown.push(line);
    }
  });
  return shown;
}

function repeat(kind: DiffLine["kind"], times: number): DiffLine["kind"][] {
  return Array.from({ length: times }, () => kind);
}
