/**
 * The parts of the context as rows. Only those near what shows stand in the page, and a page of them is asked for when it comes near: there may be
 * ten thousand. All rows are equally high.
 */

import { formatTokensExactly } from "../../src/format";
import { t } from "../../src/l10n";
import type { ContextFill, ContextPart } from "../../src/protocol";
import { element, icon, iconButton } from "../dom";
import { clearInWords, kindWords, partFacts, partTitle } from "./contextText";

/** Pixels, as `context.css` has it. */
export const ROW_HEIGHT = 44;
/** Rows that are drawn beyond what shows. */
const BEYOND = 8;
export const PAGE_ROWS = 200;

interface PartActions {
  show: (part: ContextPart) => void;
  pin: (part: ContextPart) => void;
  exclude: (part: ContextPart) => void;
  clear: (part: ContextPart) => void;
  /** Asks for the rows from there on. */
  more: (offset: number) => void;
}

export class PartList {
  readonly element = element("div", { className: "part-list", attributes: { role: "list", "aria-label": t("What fills the window") } });
  private fill: ContextFill | undefined;
  private parts: (ContextPart | undefined)[] = [];
  private readonly asked = new Set<number>();
  private readonly drawn = new Map<number, HTMLElement>();
  /** The row that has, or had, the focus. */
  private at = 0;

  /** Whether anything can be done with the parts: of a log that can only be read nothing can. */
  canChange = true;
  /** Whether the prompt cache still serves the next request: to clear something then costs more. */
  isWarm = true;

  constructor(private readonly actions: PartActions) {
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focusin", ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
      this.at = row === null ? this.at : Number(row.dataset.index);
    });
  }

  /** Another answer, from its first part on. */
  reset(fill: ContextFill): void {
    this.fill = fill;
    this.parts = Array.from<ContextPart | undefined>({ length: fill.total });
    this.asked.clear();
    this.at = Math.min(this.at, Math.max(0, fill.total - 1));
    const focused = this.element.contains(document.activeElement);
    this.clear();
    this.element.style.height = `${fill.total * ROW_HEIGHT}px`;
    this.take(0, fill.parts);
    if (focused) {
      this.focus(this.at);
    }
  }

  /** Rows that were asked for. */
  take(offset: number, parts: readonly ContextPart[]): void {
    this.asked.add(Math.floor(offset / PAGE_ROWS));
    const focused = this.drawn.get(this.at)?.contains(document.activeElement) === true;
    for (const [index, part] of parts.entries()) {
      this.parts[offset + index] = part;
      this.drawn.get(offset + index)?.remove();
      this.drawn.delete(offset + index);
    }
    if (focused && !this.drawn.has(this.at)) {
      this.focus(this.at);
    }
    this.draw();
  }

  /** Draws what shows by now. To be called when something scrolled. */
  draw(): void {
    const { top } = this.element.getBoundingClientRect();
    const first = Math.max(0, Math.floor(-top / ROW_HEIGHT) - BEYOND);
    const last = Math.min(this.parts.length - 1, Math.ceil((window.innerHeight - top) / ROW_HEIGHT) + BEYOND);
    for (const [index, row] of this.drawn) {
      if ((index < first || index > last) && !row.contains(document.activeElement)) {
        row.remove();
        this.drawn.delete(index);
      }
    }
    for (let index = first; index <= last; index += 1) {
      if (!this.drawn.has(index)) {
        this.put(index);
      }
    }
  }

  /** Leads to a row, and moves the focus there. */
  focus(index: number): void {
    if (index < 0 || index >= this.parts.length) {
      return;
    }
    this.at = index;
    const row = this.drawn.get(index) ?? this.put(index);
    row.scrollIntoView?.({ block: "nearest" });
    row.querySelector<HTMLElement>(".part-open")?.focus();
    this.draw();
  }

  clear(): void {
    this.drawn.clear();
    this.element.replaceChildren();
  }

  private put(index: number): HTMLElement {
    const part = this.parts[index];
    const page = Math.floor(index / PAGE_ROWS);
    if (part === undefined && !this.asked.has(page)) {
      this.asked.add(page);
      this.actions.more(page * PAGE_ROWS);
    }
    const row = part === undefined || this.fill === undefined ? stillToCome() : this.drawRow(part, this.fill);
    row.classList.add("part-row");
    row.dataset.index = String(index);
    row.style.top = `${index * ROW_HEIGHT}px`;
    row.setAttribute("role", "listitem");
    row.setAttribute("aria-posinset", String(index + 1));
    row.setAttribute("aria-setsize", String(this.parts.length));
    const next = [...this.drawn].filter(([other]) => other > index).toSorted(([one], [other]) => one - other)[0]?.[1];
    this.element.insertBefore(row, next ?? null);
    this.drawn.set(index, row);
    return row;
  }

  private drawRow(part: ContextPart, fill: ContextFill): HTMLElement {
    const { word, icon: symbol } = kindWords(part.kind);
    const title = partTitle(part);
    const label = element("span", { className: "screen-reader-only", textContent: t("{word}: ", { word }) });
    const lines = [
      element(
        "span",
        { className: "part-line" },
        element("span", { className: `part-mark kind-${part.kind}` }, icon(symbol)),
        label,
        element("span", { className: "part-title", textContent: title }),
        part.pinned === true && icon("pinned"),
        part.pinned === true && element("span", { className: "screen-reader-only", textContent: t("Pinned") }),
        element("span", { className: "number", textContent: formatTokensExactly(part.tokens) }),
      ),
      element("span", { className: "part-facts muted", textContent: partFacts(part, fill).join(" · ") }),
    ];
    const open =
      part.itemId == null
        ? element("div", { className: "part-open", tabIndex: 0, title }, ...lines)
        : element(
            "button",
            {
              type: "button",
              className: "part-open",
              title: t("Go to: {said}", { said: title }),
              on: { click: () => this.actions.show(part) },
            },
            ...lines,
          );
    return element("div", { className: part.excluded === true ? "excluded" : "" }, open, ...this.buttons(part));
  }

  private buttons(part: ContextPart): (HTMLElement | undefined)[] {
    if (!this.canChange || targetOf(part) === undefined || part.excluded === true) {
      return [];
    }
    const pinned = part.pinned === true;
    return [
      iconButton({
        label: pinned ? t("Unpin") : t("Pin: no compaction touches it"),
        icon: pinned ? "pinned" : "pin",
        className: "part-pin",
        onClick: () => this.actions.pin(part),
      }),
      part.clearFrees == null
        ? undefined
        : iconButton({
            label: clearInWords(part.clearFrees, part.clearCost, this.isWarm),
            icon: "clear-all",
            className: "part-clear",
            onClick: () => this.actions.clear(part),
          }),
      iconButton({
        label: t("Exclude: the model no longer sees it"),
        icon: "eye-closed",
        className: "part-exclude",
        onClick: () => this.actions.exclude(part),
      }),
    ];
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(window.innerHeight / ROW_HEIGHT / 2));
    const steps: Partial<Record<string, number>> = {
      ArrowDown: this.at + 1,
      ArrowUp: this.at - 1,
      PageDown: Math.min(this.parts.length - 1, this.at + page),
      PageUp: Math.max(0, this.at - page),
      Home: 0,
      End: this.parts.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.focus(to);
    }
  }
}

/** A row that was asked for: it can have the focus already. */
function stillToCome(): HTMLElement {
  return element("div", {}, element("div", { className: "part-open muted", tabIndex: 0, textContent: t("Reading the log…") }));
}

/** What can be pinned and excluded of a part: its item, or the file whose text it is; undefined if that cannot be. */
export function targetOf({ kind, itemId, paths }: ContextPart): { itemId: string } | { path: string } | undefined {
  if (kind === "prompt" || kind === "reply" || kind === "call" || kind === "report") {
    return itemId == null ? undefined : { itemId };
  }
  const path = paths?.[0];
  return (kind === "file" || kind === "image") && path !== undefined && !path.startsWith("text:") ? { path } : undefined;
}
