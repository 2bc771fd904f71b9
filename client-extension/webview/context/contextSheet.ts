/**
 * The context view: what fills the window as a picture and a list, what each part costs, and how the prompt cache stands. The server counts, sorts
 * and filters; what happens in the session is followed.
 */

import { formatPart, formatTokens } from "../../src/format";
import { t } from "../../src/l10n";
import type { ContextFill, ContextKind, ContextPart, ContextQuery, Gauge } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, setChildren, textButton } from "../dom";
import type { Sheet } from "../history/sheet";
import { type SessionView, isReadOnly } from "../state";
import { CacheView } from "./cacheView";
import { fillInWords, kindWords, warmFor } from "./contextText";
import { PAGE_ROWS, PartList, targetOf } from "./partList";
import { Treemap } from "./treemap";

/** Milliseconds in which news are put together: while the model answers the gauge changes often. */
const ASK_AFTER = 300;

const ORDERS = [
  ["largest", t("Largest first")],
  ["newest", t("Newest first")],
  ["oldest", t("As the model reads it")],
] as const;

const ONLY = [
  ["", t("All parts")],
  ["untouched", t("File not touched since")],
  ["new", t("Not in the cache yet")],
  ["pinned", t("Pinned only")],
  ["excluded", t("Excluded only")],
] as const;

export class ContextSheet {
  private readonly words = element("div", { className: "context-words" });
  private readonly cache: CacheView;
  private readonly treemap = new Treemap((tile) => this.choose(tile.index, tile.kind));
  private readonly kinds = element("div", { className: "context-kinds", attributes: { role: "group", "aria-label": t("Kinds of parts") } });
  private readonly filter = element("input", {
    type: "search",
    className: "sessions-filter",
    placeholder: t("Filter by title or path"),
    attributes: { "aria-label": t("Filter parts") },
  });
  private readonly order = choice(t("Order"), ORDERS);
  private readonly only = choice(t("Show"), ONLY);
  private readonly status = element("p", { className: "muted", attributes: { role: "status" } });
  private readonly list: PartList;
  private readonly body: HTMLElement;
  private readonly foot: HTMLElement;
  private query: ContextQuery = {};
  private fill: ContextFill | undefined;
  private session: SessionView | undefined;
  private sessionId: string | undefined;
  private gauge: Gauge | undefined;
  private isOpen = false;
  private asked = 0;
  private asking: ReturnType<typeof setTimeout> | undefined;

  /** @param draft what stands in the prompt box */
  constructor(
    private readonly actions: Actions,
    private readonly sheet: Sheet,
    private readonly draft: () => string,
  ) {
    this.cache = new CacheView((itemId) => actions.showItem(itemId));
    this.list = new PartList({
      show: ({ itemId }) => itemId != null && actions.showItem(itemId),
      pin: (part) => void this.act("ullage/session/pin", part),
      exclude: (part) => void this.act("ullage/session/exclude", part),
      clear: (part) => void this.act("ullage/session/clearResult", part),
      more: (offset) => void this.more(offset),
    });
    const controls = element("div", { className: "context-controls" }, this.filter, this.order, this.only);
    const above = [this.words, this.cache.element, this.treemap.element, this.kinds, controls, this.status];
    this.body = element("div", { className: "context-view" }, ...above, this.list.element);
    this.foot = element("div", { className: "sheet-foot button-row" }, ...this.buttons());
    this.filter.addEventListener("input", () => this.ask({ text: this.filter.value.trim() }, ASK_AFTER));
    this.filter.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        this.list.focus(0);
      }
    });
    this.order.addEventListener("change", () => this.ask({ order: this.order.value as ContextQuery["order"] }));
    this.only.addEventListener("change", () => this.ask({ only: (this.only.value || undefined) as ContextQuery["only"] }));
    // Which element scrolls depends on the window's height; a scroll is told on the way down alone.
    sheet.element.addEventListener("scroll", () => this.isOpen && this.list.draw(), { capture: true, passive: true });
  }

  open(session: SessionView | undefined): void {
    if (session === undefined) {
      return;
    }
    this.session = session;
    this.sessionId = session.sessionId;
    this.gauge = session.gauge;
    this.query = {};
    this.filter.value = "";
    this.order.value = "largest";
    this.only.value = "";
    this.isOpen = true;
    this.list.canChange = !isReadOnly(session);
    this.foot.hidden = isReadOnly(session);
    this.sheet.open({ title: t("Context"), body: this.body, foot: this.foot, closed: () => this.closed() });
    this.ask({});
  }

  update(session: SessionView): void {
    this.session = session;
    if (!this.isOpen) {
      return;
    }
    if (session.sessionId !== this.sessionId) {
      this.sheet.close();
    } else if (session.gauge !== this.gauge) {
      this.gauge = session.gauge;
      this.ask({}, ASK_AFTER);
    }
  }

  private closed(): void {
    this.isOpen = false;
    this.asked += 1;
    this.fill = undefined;
    clearTimeout(this.asking);
    this.cache.close();
    this.list.clear();
  }

  private ask(change: ContextQuery, after = 0): void {
    this.query = { ...this.query, ...change };
    clearTimeout(this.asking);
    if (after > 0) {
      this.asking = setTimeout(() => void this.load(), after);
    } else {
      void this.load();
    }
  }

  private async load(): Promise<void> {
    this.asked += 1;
    const { asked } = this;
    try {
      const draft = this.draft();
      const fill = await this.actions.ask("ullage/session/context", { ...this.wanted(), limit: PAGE_ROWS, ...(draft !== "" && { draft }) });
      if (asked === this.asked && this.isOpen) {
        this.draw(fill);
      }
    } catch (error) {
      if (asked === this.asked) {
        this.status.textContent = error instanceof Error ? error.message : String(error);
      }
    }
  }

  private async more(offset: number): Promise<void> {
    const { asked } = this;
    const page = await this.actions.ask("ullage/session/context", { ...this.wanted(), offset, limit: PAGE_ROWS }).catch(() => undefined);
    if (page === undefined || asked !== this.asked) {
      return;
    }
    if (page.total !== this.fill?.total) {
      void this.load(); // the conversation has gone on
    } else {
      this.list.take(offset, page.parts);
    }
  }

  private wanted(): ContextQuery {
    return Object.fromEntries(Object.entries(this.query).filter(([, value]) => value !== undefined && value !== ""));
  }

  private draw(fill: ContextFill): void {
    this.fill = fill;
    const gauge = this.session?.gauge;
    const words = gauge === undefined ? [] : fillInWords(fill, gauge);
    setChildren(this.words, ...words.map((textContent, index) => element("p", { className: index === 0 ? "" : "muted", textContent })));
    this.cache.update(fill);
    this.treemap.update(fill);
    this.drawKinds(fill);
    this.status.textContent = fill.total === 0 ? t("Nothing fits.") : "";
    this.list.isWarm = warmFor(fill.cache, Date.now() / 1000) > 0;
    this.list.reset(fill);
  }

  private drawKinds(fill: ContextFill): void {
    const focused = this.kinds.contains(document.activeElement) ? document.activeElement?.getAttribute("data-kind") : undefined;
    const buttons = fill.kinds.toSorted((one, other) => other.tokens - one.tokens).map((kind) => this.drawKind(kind, fill));
    setChildren(this.kinds, ...buttons);
    buttons.find((button) => button.dataset.kind === focused)?.focus();
  }

  private drawKind({ kind, count, tokens }: ContextKind, { used }: ContextFill): HTMLElement {
    const { word, many } = kindWords(kind);
    const isChosen = this.query.ofKind === kind;
    const name = count === 1 ? word : t("{what} ({count})", { what: many, count });
    return element(
      "button",
      {
        type: "button",
        className: "context-kind",
        attributes: { "aria-pressed": String(isChosen), "data-kind": kind },
        on: { click: () => this.ask({ ofKind: isChosen ? undefined : kind }) },
      },
      element("span", { className: `kind-mark kind-${kind}`, attributes: { "aria-hidden": "true" } }),
      element("span", { textContent: name }),
      element("span", { className: "muted", textContent: `${formatTokens(tokens)} · ${formatPart(tokens, used)}` }),
    );
  }

  /** A tile was clicked: the list leads to its part, or shows those of its kind. */
  private choose(index: number | undefined, kind: ContextPart["kind"]): void {
    const isPlain = Object.values(this.wanted()).every((value) => value === "largest");
    if (index === undefined) {
      this.ask({ ofKind: kind });
    } else if (isPlain) {
      this.list.focus(index);
    } else {
      this.query = {};
      this.filter.value = "";
      this.order.value = "largest";
      this.only.value = "";
      void this.load().then(() => this.list.focus(index));
    }
  }

  private async act(
    method: "ullage/session/pin" | "ullage/session/exclude" | "ullage/session/clearResult",
    part: ContextPart,
  ): Promise<void> {
    const target = targetOf(part);
    if (target === undefined) {
      return;
    }
    const done = await this.done(method, target, part);
    if (done && this.isOpen) {
      void this.load();
    }
  }

  private done(
    method: "ullage/session/pin" | "ullage/session/exclude" | "ullage/session/clearResult",
    target: NonNullable<ReturnType<typeof targetOf>>,
    { pinned }: ContextPart,
  ): Promise<boolean> {
    if (method === "ullage/session/pin") {
      return this.actions.send(method, { ...target, pinned: pinned !== true });
    }
    if (method === "ullage/session/exclude") {
      return this.actions.send(method, target);
    }
    return "itemId" in target ? this.actions.send(method, target) : Promise.resolve(false);
  }

  private buttons(): HTMLElement[] {
    const leave = (run: () => void) => () => {
      this.sheet.close();
      run();
    };
    return [
      textButton({
        label: t("Compact now"),
        className: "primary",
        onClick: leave(() => void this.actions.send("ullage/session/compact", {})),
      }),
      textButton({
        label: t("Preview"),
        className: "secondary",
        title: t("See what compacting would do"),
        onClick: leave(() => this.actions.runCommand("ullage.previewCompaction")),
      }),
      textButton({
        label: t("Timeline"),
        className: "secondary",
        title: t("See all compactions of this session"),
        onClick: leave(() => this.actions.runCommand("ullage.showTimeline")),
      }),
    ];
  }
}

function choice(label: string, options: readonly (readonly [string, string])[]): HTMLSelectElement {
  const shown = options.map(([value, textContent]) => element("option", { value, textContent }));
  return element("select", { className: "context-choice", attributes: { "aria-label": label } }, ...shown);
}
