/**
 * The conversation: one view an item. Only what shows and what is near it stands in the page, however long the conversation is and however
 * far the user has scrolled; empty space stands for the rest (`rows.ts`). The end stays in sight as long as the user is at the end.
 *
 * No frame is laid out twice: where things are is read when the page is laid out anyway, after a scroll or a change of a size. That what shows
 * stays where it is while rows above it come and go is the browser's doing (scroll anchoring).
 */

import { t } from "../../src/l10n";
import type { Item } from "../../src/protocol";
import { waitsForUser } from "../../src/session/approvals";
import type { Actions } from "../actions";
import { element } from "../dom";
import { type Mark, marksOf } from "../history/fates";
import type { SessionView } from "../state";
import { type Changed, NOTHING_CHANGED, type RowRange, Rows } from "./rows";
import { costsOf } from "./turnCost";
import { endsOf } from "./turns";

/** Items that are asked for at a time. */
export const PAGE = 60;

/** Pixels from an edge that count as being there. */
const NEAR = 48;

/** Pixels above and below what shows in which rows are ready. Beyond twice of that they go. */
const MARGIN = 2000;

/** Pixels of what shows, until it is known. */
const USUAL_HEIGHT = 800;

/** Milliseconds of a frame in which rows are drawn that do not show yet. */
const BUDGET = 6;

export class Timeline {
  readonly element = element("div", {
    className: "timeline",
    tabIndex: 0,
    attributes: { role: "log", "aria-label": t("Conversation"), "aria-live": "off" },
  });
  /** Leads to the end; stands below the conversation and covers none of it. Hidden while the user is there. */
  readonly jump = element("button", { type: "button", className: "jump", title: t("Go to the end"), textContent: t("↓ Newest") });
  private rows: Rows;
  private session: SessionView | undefined;
  /** Those of the session that stand in the conversation. */
  private items: readonly Item[] = [];
  /** Ids of the first and the last row that stand in the page. */
  private ends: { first: string; last: string } | undefined;
  private marks: ReadonlyMap<string, Mark> = new Map();
  private changed: Changed = NOTHING_CHANGED;
  private atEnd = true;
  /** Pixels that show, and how far they are from the top, as they were when the page was last laid out. */
  private height = 0;
  private top = 0;
  /** Rows are still to be drawn, in the next frame. */
  private isFilling = false;
  /** Where the beginning of a long question is kept in sight, which counts as the end. */
  private keptAt: number | undefined;
  /** What the user folds or unfolds: it stays where they clicked it, and what comes to light is brought into view. */
  private folding: HTMLElement | undefined;
  private readonly resized = new ResizeObserver(() => this.listResized());

  /** @param foot what stands below the items and scrolls with them. */
  constructor(
    private readonly actions: Actions,
    private readonly foot: HTMLElement,
  ) {
    this.rows = this.freshRows();
    this.jump.hidden = true;
    this.jump.addEventListener("click", () => this.goToEnd());
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.viewResized()).observe(this.element);
    this.resized.observe(foot);
  }

  update(session: SessionView): void {
    if (session.sessionId !== this.session?.sessionId) {
      this.rows = this.freshRows();
      this.ends = undefined;
      this.atEnd = true;
      this.jump.hidden = true;
    }
    if (session.pins !== this.session?.pins || session.history !== this.session.history) {
      this.marks = marksOf(session.pins, session.history);
    }
    const oldest = this.items[0];
    const before = this.items;
    this.session = session;
    this.items = inConversation(session.items);
    const ends = endsOf(this.items, session.turns, session.state === "idle");
    this.changed = { turns: session.turns, ends, costs: costsOf(this.items, session.turn ?? undefined) };
    if (!this.atEnd && oldest !== this.items[0] && before.length > 0 && this.top <= 0) {
      this.drawBelow();
    } else {
      this.draw(this.known());
    }
    this.askForEarlier();
  }

  /** Puts the focus on the last control of the conversation, from which the others are reached. */
  focusEnd(): void {
    const controls = [...this.element.querySelectorAll<HTMLElement>("button, summary, a[href], [tabindex='0']")];
    (controls.findLast((control) => control.checkVisibility()) ?? this.element).focus();
  }

  /** Scrolls to an item, and points it out. False if it is not among the items of the session that are known. */
  reveal(itemId: string): boolean {
    const index = this.items.findIndex((item) => item.id === itemId);
    if (index < 0) {
      return false;
    }
    this.atEnd = false;
    this.draw(this.around(index));
    const found = this.rows.find(itemId);
    found?.scrollIntoView({ block: "center" });
    found?.setAttribute("tabindex", "-1");
    found?.focus({ preventScroll: true });
    found?.classList.remove("revealed");
    requestAnimationFrame(() => found?.classList.add("revealed"));
    this.jump.hidden = this.element.scrollHeight <= this.element.clientHeight;
    return true;
  }

  goToEnd(): void {
    this.atEnd = true;
    this.jump.hidden = true;
    this.draw(this.known());
    this.keepEnd();
  }

  private freshRows(): Rows {
    const rows = new Rows(this.actions);
    rows.element.addEventListener("click", ({ target }) => {
      this.folding = (target instanceof Element && target.closest("summary, .tool-header")?.parentElement) || undefined;
    });
    this.resized.disconnect();
    this.resized.observe(rows.element);
    this.resized.observe(this.foot);
    this.element.replaceChildren(rows.element, this.foot);
    return rows;
  }

  /** The range that stands in the page, as the items are now; at the end what is needed there. */
  private known(): RowRange {
    if (this.atEnd || this.ends === undefined) {
      return this.atTheEnd();
    }
    const { first, last } = this.ends;
    const from = this.items.findIndex(({ id }) => id === first);
    const to = this.items.findLastIndex(({ id }) => id === last);
    return from >= 0 && to >= from ? { first: from, last: to } : this.visible(MARGIN);
  }

  private atTheEnd(): RowRange {
    const last = this.items.length - 1;
    const needed = (this.height || USUAL_HEIGHT) + MARGIN;
    let first = Math.max(0, last);
    for (let height = 0; first > 0 && height < needed; first -= 1) {
      const item = this.items[first];
      height += item === undefined ? 0 : this.rows.heights.of(item);
    }
    return { first, last };
  }

  /** So much before and after an item that it can stand in the middle. */
  private around(index: number): RowRange {
    const { heights } = this.rows;
    const top = heights.between(this.items, 0, index);
    const height = this.height || USUAL_HEIGHT;
    return heights.rowsIn(this.items, top - height, top + 2 * height);
  }

  /** The rows that show, and those that are that many pixels above and below. */
  private visible(margin: number): RowRange {
    return this.rows.heights.rowsIn(this.items, this.top - margin, this.top + (this.height || USUAL_HEIGHT) + margin);
  }

  private draw(range: RowRange): void {
    this.rows.draw(this.items, range, this.marks, this.changed);
    const first = this.items[range.first];
    const last = this.items[range.last];
    this.ends = first && last && { first: first.id, last: last.id };
  }

  /**
   * Draws what came before the first row. The rows that show stay where they are: a browser keeps them there by itself, but not at the very
   * top.
   */
  private drawBelow(): void {
    const shown = this.ends && this.rows.find(this.ends.first);
    const before = shown?.offsetTop ?? 0;
    this.draw(this.known());
    this.element.scrollTop += (shown?.offsetTop ?? 0) - before;
    this.top = this.element.scrollTop;
  }

  /** Rows come near the place that shows, the nearest first and only that many in a frame; those that are far from it go. */
  private fill(): void {
    this.isFilling = false;
    if (this.items.length === 0) {
      return;
    }
    if (this.atEnd) {
      this.fillTheEnd();
      return;
    }
    const now = this.known();
    const must = this.visible(0);
    const want = this.visible(MARGIN);
    const may = this.visible(2 * MARGIN);
    const isApart = now.last < must.first - 1 || now.first > must.last + 1;
    const range = isApart
      ? { ...must }
      : {
          first: Math.min(must.first, Math.max(now.first, may.first)),
          last: Math.max(must.last, Math.min(now.last, may.last)),
        };
    this.draw(range);
    const until = performance.now() + BUDGET;
    let isNew = false;
    while ((range.first > want.first || range.last < want.last) && performance.now() < until) {
      range.first = Math.max(want.first, range.first - 1);
      range.last = Math.min(want.last, range.last + 1);
      this.rows.prepare(this.items[range.first], this.items[range.last]);
      isNew = true;
    }
    if (isNew) {
      this.draw(range);
    }
    if (range.first > want.first || range.last < want.last) {
      this.fillSoon();
    }
    this.askForEarlier();
  }

  /** Rows turned out to be lower than rows of their kind mostly are: those above them are needed, too. */
  private fillTheEnd(): void {
    const needed = this.atTheEnd();
    if (this.ends === undefined || needed.first < this.items.findIndex(({ id }) => id === this.ends?.first)) {
      this.draw(needed);
    }
  }

  private fillSoon(): void {
    if (!this.isFilling) {
      this.isFilling = true;
      requestAnimationFrame(() => this.fill());
    }
  }

  /** What precedes the known items is asked for before the user has come to the first of them. */
  private askForEarlier(): void {
    if (!this.atEnd && this.top < MARGIN && (this.session?.earlier ?? 0) > 0) {
      this.actions.loadEarlier();
    }
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    this.top = scrollTop;
    this.height = clientHeight;
    this.atEnd = scrollHeight - scrollTop - clientHeight < NEAR || scrollTop === this.keptAt;
    this.keptAt = this.atEnd ? this.keptAt : undefined;
    this.jump.hidden = this.atEnd;
    this.fill();
  }

  private viewResized(): void {
    this.height = this.element.clientHeight;
    this.keepEnd();
    this.fillSoon();
  }

  private listResized(): void {
    this.rows.measure();
    if (this.folding !== undefined) {
      if (isUnfolded(this.folding)) {
        this.folding.scrollIntoView({ block: "nearest" });
      }
      this.folding = undefined;
      this.scrolled();
    } else {
      this.keepEnd();
      this.fillSoon();
    }
  }

  /**
   * Called when the page is laid out, so that it costs nothing. Of a question that is longer than what shows, the beginning: its buttons stay
   * in sight below it (`tool.css`).
   */
  private keepEnd(): void {
    if (this.atEnd) {
      const waits = this.items.findLast(waitsForUser);
      const asked = waits && this.rows.find(waits.id);
      const isLong = asked !== undefined && asked.offsetHeight > this.element.clientHeight;
      this.element.scrollTop = isLong ? asked.offsetTop : this.element.scrollHeight;
      this.keptAt = isLong ? this.element.scrollTop : undefined;
    }
  }
}

/** Without queued prompts: those stand above the prompt box (`dock/trays.ts`). */
function inConversation(items: readonly Item[]): readonly Item[] {
  return items.some(isQueued) ? items.filter((item) => !isQueued(item)) : items;
}

function isQueued(item: Item): boolean {
  return item.kind === "user" && item.queued;
}

/** Whether a `details`, or what a tool call shows below its line, is open. */
function isUnfolded(part: HTMLElement): boolean {
  return part.hasAttribute("open") || part.querySelector(':scope > [aria-expanded="true"]') !== null;
}
