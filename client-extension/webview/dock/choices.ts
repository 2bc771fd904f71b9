/** What answers the prompt, and how: the buttons of mode, model and effort, which mode comes next, and which words name one. */

import { t } from "../../src/l10n";
import { effortLabel } from "../../src/model/choices";
import type { ModeId, SessionModes } from "../../src/protocol";
import { element, icon } from "../dom";
import type { SessionView } from "../state";

const ICONS: Record<ModeId, string> = { ask: "comment-discussion", plan: "checklist", act: "edit" };

type Command = "ullage.selectMode" | "ullage.selectModel" | "ullage.selectEffort";

/** The buttons below the prompt box. Each shows what is chosen, and leads to the list of what can be. */
export class Choices {
  private readonly mode = element("button", { type: "button", className: "mode-button" });
  private readonly model = element("button", { type: "button", className: "model-button" });
  private readonly effort = element("button", { type: "button", className: "effort-button" });
  readonly elements: readonly HTMLElement[] = [this.mode, this.model, this.effort];

  constructor(run: (command: Command) => void) {
    this.mode.addEventListener("click", () => run("ullage.selectMode"));
    this.model.addEventListener("click", () => run("ullage.selectModel"));
    this.effort.addEventListener("click", () => run("ullage.selectEffort"));
  }

  update(session: SessionView | undefined): void {
    if (session !== undefined) {
      this.drawModel(session.model.displayName || session.model.name);
      this.drawEffort(effortLabel(session.model));
    }
    this.drawMode(session?.modes);
    this.model.hidden = session === undefined;
    this.effort.hidden = session === undefined || this.effort.textContent === "";
  }

  private drawModel(name: string): void {
    if (this.model.textContent !== name) {
      this.model.replaceChildren(name, icon("chevron-down"));
      this.model.title = t("{name} – choose the model of this session", { name });
    }
  }

  private drawMode(modes: SessionModes | undefined): void {
    const current = modes?.availableModes.find(({ id }) => id === modes.currentModeId);
    this.mode.hidden = current === undefined;
    if (current !== undefined && this.mode.textContent !== current.name) {
      this.mode.replaceChildren(icon(ICONS[current.id]), current.name, icon("chevron-down"));
      this.mode.dataset.mode = current.id;
      this.mode.title = t("{name} mode. {description} Shift+Tab in the prompt box chooses the next one.", {
        name: current.name,
        description: current.description,
      });
      this.mode.setAttribute("aria-label", t("Mode: {name}", { name: current.name }));
    }
  }

  /** Where it is left to the model, only that it can be chosen. */
  private drawEffort(label: string): void {
    const shown = label === t("Default") ? t("Effort") : label;
    if (this.effort.textContent !== shown) {
      this.effort.replaceChildren(shown, ...(shown === "" ? [] : [icon("chevron-down")]));
      this.effort.title = t("Effort: {label} – choose how much work goes into answers", { label });
      this.effort.setAttribute("aria-label", t("Effort: {label}", { label }));
    }
  }
}

/** The mode after the one in force, in the order in which they are offered. */
export function modeAfter({ currentModeId, availableModes }: SessionModes): ModeId {
  const index = availableModes.findIndex(({ id }) => id === currentModeId);
  return availableModes[(index + 1) % availableModes.length]?.id ?? currentModeId;
}

/** Whether what was typed after `/mode` is the id of a mode. */
export function isModeId(typed: string): typed is ModeId {
  return typed === "ask" || typed === "plan" || typed === "act";
}
