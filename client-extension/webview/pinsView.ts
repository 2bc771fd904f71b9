/** The files that no compaction touches, above the prompt box: open one, or unpin it. Pinned messages show it themselves. */

import type { Pins } from "../src/protocol";
import type { Actions } from "./actions";
import { element, icon, iconButton, setChildren } from "./dom";

export class PinsView {
  readonly element = element("ul", { className: "pins", attributes: { "aria-label": "Pinned files" } });
  private drawn: Pins | undefined;

  constructor(private readonly actions: Actions) {}

  update(pins: Pins | undefined): void {
    if (pins === this.drawn) {
      return;
    }
    this.drawn = pins;
    const paths = pins?.paths ?? [];
    this.element.hidden = paths.length === 0;
    setChildren(this.element, ...paths.map((path) => this.drawPin(path)));
  }

  private drawPin(path: string): HTMLElement {
    const open = element("button", {
      type: "button",
      className: "link-button",
      title: `${path}: no compaction touches it. Open it`,
      textContent: path.slice(path.lastIndexOf("/") + 1),
    });
    open.addEventListener("click", () => this.actions.openFile(path));
    const unpin = iconButton({
      label: `Unpin ${path}`,
      icon: "close",
      onClick: () => void this.actions.send("ullage/session/pin", { path, pinned: false }),
    });
    return element("li", { className: "chip" }, icon("pinned"), open, unpin);
  }
}
