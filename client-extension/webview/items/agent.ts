/** A sub-agent in the card of its call: how full its own context is, what it cost, what it does, and the way to its log. */

import { formatDollars, formatShare, formatTokens } from "../../src/format";
import { t } from "../../src/l10n";
import type { AgentRun, ToolCallItem } from "../../src/protocol";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon } from "../dom";

export const TASK = "task";

/** The status of the call while its sub-agent works. If that waits for an approval, the card of the call asks. */
const AT_WORK: ReadonlySet<ToolCallItem["status"]> = new Set(["running", "awaiting_permission"]);

/** Whether the user stopped it: the model is told so in these words. */
export function isStoppedByUser(output: string): boolean {
  return /^There is no report of the sub-agent “[^”\n]*”: the user stopped it\./.test(output);
}

/** How full its context is, in words. */
export function fullnessOf({ used, threshold }: AgentRun): string {
  const share = threshold > 0 ? Math.min(1, used / threshold) : 0;
  return t("{share} full · {used} of {threshold}", {
    share: formatShare(share),
    used: formatTokens(used),
    threshold: formatTokens(threshold),
  });
}

/** Of one call. Nothing shows until its sub-agent has begun. */
export class AgentView {
  private readonly fill = element("span", { className: "agent-gauge-fill" });
  private readonly gauge = element("span", { className: "agent-gauge", attributes: { role: "img" } }, this.fill);
  private readonly figures = element("span", { className: "agent-figures" });
  private readonly doing = element("div", { className: "agent-doing" });
  private readonly stop = element("button", { type: "button", className: "link-button" }, icon("debug-stop"), t("Stop"));
  private readonly log = element("button", { type: "button", className: "link-button" }, icon("list-tree"), t("Open log"));
  readonly element = element(
    "div",
    { className: "agent", hidden: true },
    element("div", { className: "agent-line" }, this.gauge, this.figures, this.stop, this.log),
    this.doing,
  );
  private run: AgentRun | undefined;

  constructor(actions: Actions) {
    this.stop.addEventListener("click", () => {
      if (this.run !== undefined) {
        void actions.stopAgent(this.run.sessionId);
      }
    });
    this.log.addEventListener("click", () => {
      if (this.run !== undefined) {
        actions.runCommand("ullage.openSession", this.run.sessionId);
      }
    });
  }

  update({ agent, status }: ToolCallItem): void {
    const run = agent ?? undefined;
    this.element.hidden = run === undefined;
    this.stop.hidden = !AT_WORK.has(status);
    if (run === undefined || run === this.run) {
      return;
    }
    this.run = run;
    const name = visibleLine(run.name);
    const full = fullnessOf(run);
    this.fill.style.width = `${run.threshold > 0 ? Math.min(100, (100 * run.used) / run.threshold) : 0}%`;
    this.gauge.setAttribute("aria-label", t("Context of the sub-agent {name}: {full}", { name, full }));
    this.gauge.title = full;
    this.figures.textContent = [
      formatShare(run.threshold > 0 ? Math.min(1, run.used / run.threshold) : 0),
      ...(run.cost == null ? [] : [formatDollars(run.cost)]),
    ].join(" · ");
    this.figures.title = full;
    this.doing.hidden = run.doing == null;
    this.doing.textContent = run.doing == null ? "" : visibleLine(run.doing);
    this.doing.title = this.doing.textContent;
    this.stop.setAttribute("aria-label", t("Stop the sub-agent {name}", { name }));
    this.log.setAttribute("aria-label", t("Open log of the sub-agent {name}", { name }));
  }
}
