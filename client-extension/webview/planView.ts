/** The agent's task list, above the prompt box; folded to one line until the user wants all of it. */

import type { PlanEntry } from "../src/protocol";
import { element, icon, setChildren } from "./dom";

const ICONS: Record<PlanEntry["status"], { icon: string; label: string }> = {
  pending: { icon: "circle-large", label: "to do" },
  in_progress: { icon: "circle-large-filled", label: "in progress" },
  completed: { icon: "pass-filled", label: "done" },
};

export class PlanView {
  private readonly summary = element("summary", { className: "fold" });
  private readonly list = element("ol", { className: "plan-entries" });
  readonly element = element("details", { className: "plan" }, this.summary, this.list);
  private drawn: readonly PlanEntry[] | undefined;

  update(plan: readonly PlanEntry[]): void {
    if (plan === this.drawn) {
      return;
    }
    this.drawn = plan;
    this.element.hidden = plan.length === 0;
    const done = plan.filter((entry) => entry.status === "completed").length;
    const current = plan.find((entry) => entry.status === "in_progress") ?? plan.find((entry) => entry.status === "pending");
    setChildren(
      this.summary,
      icon("chevron-right", "fold-mark"),
      element("span", { className: "plan-current", textContent: current?.content ?? "All tasks done" }),
      element("span", { className: "muted", textContent: `${done} of ${plan.length}` }),
    );
    setChildren(this.list, ...plan.map(drawEntry));
  }
}

function drawEntry(entry: PlanEntry): HTMLElement {
  const { icon: name, label } = ICONS[entry.status];
  const mark = icon(name);
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", label);
  mark.removeAttribute("aria-hidden");
  return element("li", { className: entry.status }, mark, element("span", { textContent: entry.content }));
}
