/** Below the line of a call whose command runs long, or went on after it: the way to let it go on, and the way to where it runs. */

import { t } from "../../src/l10n";
import type { ToolCallItem } from "../../src/protocol";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon } from "../dom";

const BASH = "bash";

/** Of one call. The way to let it go on shows some seconds after it began (`running.css`): few commands take that long. */
export class GoesOnView {
  private readonly leave: HTMLButtonElement;
  private readonly show = element("button", { type: "button", className: "link-button" });
  readonly element: HTMLElement;
  private drawn = "";

  constructor(
    private readonly actions: Actions,
    private item: ToolCallItem,
  ) {
    this.leave = element(
      "button",
      {
        type: "button",
        className: "link-button tool-leave",
        title: t("The command goes on in the background, and the agent goes on without its end"),
        on: { click: () => void this.actions.send("ullage/session/leaveRunning", { toolCallId: this.item.id }) },
      },
      icon("debug-continue"),
      t("Leave it running"),
    );
    this.show.addEventListener("click", () => {
      if (this.item.goesOn != null) {
        this.actions.showRunning(this.item.goesOn);
      }
    });
    this.element = element("div", { className: "tool-goes-on", hidden: true }, this.leave, this.show);
  }

  update(item: ToolCallItem): void {
    this.item = item;
    const goesOn = item.goesOn ?? "";
    const waits = item.name === BASH && item.status === "running";
    const drawn = `${goesOn} ${waits}`;
    if (drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    this.element.hidden = !waits && goesOn === "";
    this.leave.hidden = !waits;
    this.show.hidden = goesOn === "";
    this.show.replaceChildren(icon("terminal"), t("Went on in the background as {id}", { id: visibleLine(goesOn) }));
    this.show.title = t("Show it among the commands in the background");
  }
}
