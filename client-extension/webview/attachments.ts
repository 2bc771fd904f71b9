/** What is attached to the prompt that is being written, as chips. */

import type { AttachmentRef } from "../src/protocol";
import { visibleLine } from "../src/visible";
import { element, icon, iconButton, setChildren } from "./dom";

const ICONS: Record<AttachmentRef["kind"], string> = { file: "file", problems: "warning", pasted: "file-media" };

export interface Attachment {
  name: string;
  ref: AttachmentRef;
}

export class Attachments {
  readonly element = element("div", { className: "chips", attributes: { "aria-label": "Attached" } });
  private attached: readonly Attachment[] = [];

  constructor(
    remembered: readonly Attachment[],
    private readonly changed: () => void,
  ) {
    this.draw(remembered);
  }

  get all(): readonly Attachment[] {
    return this.attached;
  }

  get refs(): readonly AttachmentRef[] {
    return this.attached.map(({ ref }) => ref);
  }

  /** Attaches it, once. */
  add(name: string, ref: AttachmentRef): void {
    const key = JSON.stringify(ref);
    if (!this.attached.some((known) => JSON.stringify(known.ref) === key)) {
      this.set([...this.attached, { name, ref }]);
    }
  }

  clear(): void {
    this.set([]);
  }

  private set(attached: readonly Attachment[]): void {
    this.draw(attached);
    this.changed();
  }

  private draw(attached: readonly Attachment[]): void {
    this.attached = attached;
    this.element.hidden = attached.length === 0;
    setChildren(this.element, ...attached.map((attachment) => this.drawChip(attachment)));
  }

  private drawChip(attachment: Attachment): HTMLElement {
    const remove = iconButton({
      label: `Detach ${visibleLine(attachment.name)}`,
      icon: "close",
      onClick: () => this.set(this.attached.filter((known) => known !== attachment)),
    });
    return element(
      "span",
      { className: "chip" },
      icon(ICONS[attachment.ref.kind]),
      element("bdi", { textContent: visibleLine(attachment.name) }),
      remove,
    );
  }
}
