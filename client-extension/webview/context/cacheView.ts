/** The cache clock, which ticks, and the requests that missed the prompt cache, each with what had changed before it. */

import { plural, t } from "../../src/l10n";
import type { CacheClock, CacheMiss, ContextFill } from "../../src/protocol";
import { ageOf } from "../../src/session/sessionRows";
import { element, icon, setChildren, textButton } from "../dom";
import { cacheInWords, missesInWords, missInWords, warmFor } from "./contextText";

export class CacheView {
  /** It counts down by itself: a screen reader says it where it is asked for, and not each second. */
  private readonly clock = element("div", { className: "cache-clock", attributes: { role: "timer", "aria-live": "off" } });
  private readonly list = element("ul", { className: "rows misses", attributes: { "aria-label": t("Requests that missed the cache") } });
  private readonly summary = element("summary", { className: "fold" });
  private readonly misses = element("details", { className: "cache-misses", hidden: true }, this.summary, this.list);
  readonly element = element("section", { className: "cache" }, this.clock, this.misses);
  private cache: CacheClock | undefined;
  private ticking: ReturnType<typeof setInterval> | undefined;
  private drawn = "";
  private fill: ContextFill | undefined;

  constructor(
    private readonly show: (itemId: string) => void,
    private readonly now: () => number = () => Date.now() / 1000,
  ) {
    this.misses.addEventListener("toggle", () => this.drawMisses());
  }

  update(fill: ContextFill): void {
    this.cache = fill.cache;
    this.tick();
    this.ticking ??= setInterval(() => this.tick(), 1000);
    const words = missesInWords(fill);
    this.misses.hidden = words === undefined;
    this.fill = fill;
    if (words !== undefined) {
      setChildren(this.summary, icon("chevron-right", "fold-mark"), words);
    }
    this.drawMisses();
  }

  /** Where they are unfolded: there may be thousands of lines. */
  private drawMisses(): void {
    const { fill } = this;
    const drawn = JSON.stringify(fill?.misses);
    if (fill === undefined || !this.misses.open || drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    const left = fill.missed - fill.misses.length;
    const older = element("li", { className: "muted", textContent: plural(left, t("{count} older one"), t("{count} older ones")) });
    setChildren(this.list, ...fill.misses.map((miss) => this.drawMiss(miss)), left > 0 && older);
  }

  close(): void {
    clearInterval(this.ticking);
    this.ticking = undefined;
    this.drawn = "";
    this.misses.open = false;
  }

  private tick(): void {
    if (this.cache === undefined) {
      return;
    }
    const isWarm = warmFor(this.cache, this.now()) > 0;
    this.clock.dataset.state = isWarm ? "warm" : "cold";
    const lines = cacheInWords(this.cache, this.now()).map((text) => element("span", { textContent: text }));
    setChildren(this.clock, icon(isWarm ? "flame" : "circle-slash"), element("span", { className: "cache-words" }, ...lines));
  }

  private drawMiss(miss: CacheMiss): HTMLElement {
    const { head, why } = missInWords(miss);
    const { itemId, change } = miss;
    const age = ageOf(miss.at, this.now());
    const title =
      itemId == null
        ? element("span", { textContent: head })
        : textButton({ label: head, className: "link", title: t("Go to the reply"), onClick: () => this.show(itemId) });
    return element(
      "li",
      { className: "miss" },
      element("div", { className: "miss-head" }, title, element("span", { className: "muted", textContent: age })),
      element("div", { className: "muted", textContent: why }),
      change != null && element("pre", { className: "miss-change", tabIndex: 0 }, ...change.split("\n").map(drawLine)),
    );
  }
}

function drawLine(line: string): HTMLElement {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
  return element("div", { className: kind, textContent: line || " " });
}
