/** The gauge inside the panel: a bar and a percentage beside the prompt box. What the context is made of opens from it. */

import { formatShare, formatTokens } from "../src/format";
import { shareOf } from "../src/gauge";
import type { Gauge } from "../src/protocol";
import { element } from "./dom";

export class ContextMeter {
  private readonly fill = element("span", { className: "meter-fill" });
  private readonly text = element("span", { className: "meter-text" });
  readonly element = element(
    "button",
    { type: "button", className: "meter" },
    element("span", { className: "meter-bar", attributes: { "aria-hidden": "true" } }, this.fill),
    this.text,
  );
  private drawn: Gauge | undefined;

  constructor(onClick: () => void) {
    this.element.addEventListener("click", onClick);
  }

  update(gauge: Gauge): void {
    if (gauge === this.drawn) {
      return;
    }
    this.drawn = gauge;
    const share = shareOf(gauge);
    const percent = `${gauge.estimated ? "~" : ""}${formatShare(share)}`;
    const left = formatTokens(Math.max(0, gauge.line - gauge.used));
    this.element.className = `meter ${gauge.level}`;
    this.element.title = `Context ${percent} full, ${left} tokens left. Show what it is made of`;
    this.element.setAttribute("aria-label", this.element.title);
    this.text.textContent = percent;
    this.fill.style.width = `${Math.min(100, share * 100)}%`;
  }
}
