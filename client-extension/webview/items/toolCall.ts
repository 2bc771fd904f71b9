/** A tool call: a line that says what is done, and below it, folded, what went in and what came out. */

import type { FileDiff, ToolCallItem, ToolKind, ToolStatus } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, growText, icon, setChildren } from "../dom";
import { drawApproval } from "./approval";
import { drawDiff } from "./diffView";
import type { ItemView } from "./itemView";
import { drawMedia } from "./media";
import { commandOf, describeInput, plainOutput, proposedDiff } from "./toolText";

const KIND_ICONS: Record<ToolKind, string> = {
  read: "file",
  edit: "edit",
  search: "search",
  execute: "terminal",
  think: "lightbulb",
  other: "tools",
};

const STATUS: Record<ToolStatus, { icon: string; label: string }> = {
  pending: { icon: "loading codicon-modifier-spin", label: "Being written" },
  awaiting_permission: { icon: "question", label: "Waits for your approval" },
  running: { icon: "loading codicon-modifier-spin", label: "Running" },
  completed: { icon: "check", label: "Done" },
  failed: { icon: "error", label: "Failed" },
  cancelled: { icon: "circle-slash", label: "Stopped" },
};

/** While these last, the card is unfolded by itself. */
const UNFOLDED = new Set<ToolStatus>(["awaiting_permission", "running"]);

export function makeToolCallView(item: ToolCallItem, actions: Actions): ItemView<ToolCallItem> {
  return new ToolCallView(item, actions);
}

class ToolCallView implements ItemView<ToolCallItem> {
  readonly element: HTMLElement;
  private item: ToolCallItem;
  private open = false;
  /** The user folded or unfolded it: from then on it stays as they left it. */
  private chosen = false;
  private drawnDiff: FileDiff | undefined;
  private askedFor: string | undefined;

  private readonly kindIcon = element("span");
  private readonly title = element("span", { className: "tool-title" });
  private readonly changes = element("span", { className: "tool-changes" });
  private readonly statusIcon = element("span", { className: "tool-status" });
  private readonly header = element("button", { type: "button", className: "tool-header" });
  private readonly body = element("div", { className: "tool-body" });
  private readonly media = element("div", { className: "media", hidden: true });
  private readonly input = element("pre", { className: "tool-input", tabIndex: 0, attributes: { role: "region", "aria-label": "Input" } });
  private readonly output = element("pre", {
    className: "tool-output",
    tabIndex: 0,
    attributes: { role: "region", "aria-label": "Output" },
  });
  private readonly outputText = document.createTextNode("");
  private readonly diff = element("div", { className: "tool-diff" });
  private readonly links = element("div", { className: "tool-links" });
  private readonly approval = element("div");

  constructor(
    item: ToolCallItem,
    private readonly actions: Actions,
  ) {
    this.item = item;
    this.output.append(this.outputText);
    this.header.append(icon("chevron-right", "fold-mark"), this.kindIcon, this.title, this.changes, this.statusIcon);
    this.header.addEventListener("click", () => this.toggle());
    this.body.append(this.input, this.diff, this.output, this.links, this.approval);
    this.element = element("article", { className: "item tool" }, this.header, this.media, this.body);
    this.update(item);
  }

  update(item: ToolCallItem): void {
    this.item = item;
    if (!this.chosen) {
      this.open = UNFOLDED.has(item.status) || (item.status === "completed" && item.diff != null);
    }
    this.drawHeader();
    this.drawMedia();
    this.drawBody();
  }

  /** It never changes once it is there. */
  private drawMedia(): void {
    const shown = this.item.media ?? [];
    if (this.media.childElementCount !== shown.length) {
      setChildren(this.media, ...drawMedia(shown, this.actions));
      this.media.hidden = shown.length === 0;
    }
  }

  private toggle(): void {
    this.chosen = true;
    this.open = !this.open;
    this.drawHeader();
    this.drawBody();
  }

  private drawHeader(): void {
    const { toolKind, title, name, status } = this.item;
    this.element.className = `item tool ${status}`;
    this.header.setAttribute("aria-expanded", String(this.open));
    this.kindIcon.className = `codicon codicon-${KIND_ICONS[toolKind]} tool-kind`;
    this.title.textContent = title || name;
    this.title.title = title || name;
    this.statusIcon.className = `codicon codicon-${STATUS[status].icon} tool-status`;
    this.statusIcon.title = STATUS[status].label;
    this.statusIcon.setAttribute("role", "img");
    this.statusIcon.setAttribute("aria-label", STATUS[status].label);
  }

  private drawBody(): void {
    this.drawDiff();
    this.body.hidden = !this.open;
    if (this.open) {
      this.drawInput();
      this.drawOutput();
      this.drawLinks();
    }
    this.drawApproval();
  }

  /** A diff says all that the input says; a command is shown as one would type it, unless the title has all of it. */
  private drawInput(): void {
    const command = commandOf(this.item.input);
    const text = command === undefined ? describeInput(this.item.input) : `$ ${command}`;
    this.input.hidden = this.drawnDiff !== undefined || text === "" || text === "{}" || text === this.item.title;
    if (this.input.textContent !== text) {
      this.input.textContent = text;
    }
  }

  private drawOutput(): void {
    const text = plainOutput(this.item.output);
    this.output.hidden = text.trim() === "" || (this.item.diff != null && this.item.status === "completed");
    const atEnd = this.output.scrollHeight - this.output.scrollTop - this.output.clientHeight < 20;
    growText(this.outputText, text.replace(/\n$/, ""));
    if (atEnd && this.item.status === "running") {
      this.output.scrollTop = this.output.scrollHeight;
    }
  }

  /** What was changed; before that, from the approval on, what is about to be. Nothing where it came to nothing. */
  private drawDiff(): void {
    const { diff: made, toolKind, status, input } = this.item;
    const diff = made ?? (toolKind === "edit" && UNFOLDED.has(status) ? proposedDiff(input) : undefined);
    if (isSameDiff(diff, this.drawnDiff)) {
      return;
    }
    this.drawnDiff = diff;
    if (diff === undefined) {
      setChildren(this.diff);
      setChildren(this.changes);
      this.changes.removeAttribute("aria-label");
      return;
    }
    const drawn = drawDiff(diff);
    setChildren(this.diff, drawn.element);
    setChildren(
      this.changes,
      element("span", { className: "added", textContent: `+${drawn.added}` }),
      element("span", { className: "removed", textContent: `−${drawn.removed}` }),
    );
    this.changes.setAttribute("aria-label", `${drawn.added} lines added, ${drawn.removed} removed`);
  }

  private drawLinks(): void {
    const { fullOutput } = this.item;
    const diff = this.drawnDiff;
    setChildren(
      this.links,
      diff !== undefined && this.fileLink(`Open ${diff.path}`, diff.path),
      fullOutput != null && this.fileLink("Open the whole output", fullOutput),
    );
  }

  private fileLink(label: string, path: string): HTMLElement {
    const link = element("button", { type: "button", className: "link-button", title: path }, icon("go-to-file"), label);
    link.addEventListener("click", () => this.actions.openFile(path));
    return link;
  }

  /** Drawn once for each question, so that a reason being typed survives updates. */
  private drawApproval(): void {
    const asked = this.item.permission?.length ? JSON.stringify(this.item.permission) : undefined;
    if (asked !== this.askedFor) {
      this.askedFor = asked;
      if (this.approval.contains(document.activeElement)) {
        this.header.focus(); // else the focus would be lost with the button that was pressed
      }
      setChildren(this.approval, asked !== undefined && drawApproval(this.item, this.actions));
    }
  }
}

function isSameDiff(diff: FileDiff | undefined, known: FileDiff | undefined): boolean {
  return diff?.path === known?.path && diff?.newText === known?.newText && diff?.oldText === known?.oldText;
}
