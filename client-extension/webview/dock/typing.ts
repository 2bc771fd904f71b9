/** What helps with typing a prompt: the menu above the box for `/` and `@`, and earlier prompts by the arrow keys. */

import { t } from "../../src/l10n";
import { element, icon, setChildren } from "../dom";

export interface Completion {
  label: string;
  /** What can follow a command; not shown where the panel is narrow. */
  argument?: string | undefined;
  /** What stands behind the label, muted. */
  detail: string;
  icon: string;
  accept: () => void;
}

/** A list that is walked with the arrow keys while the cursor stays in the box. */
export class CompletionMenu {
  readonly element = element("div", {
    className: "menu",
    id: "completions",
    tabIndex: 0,
    attributes: { role: "listbox", "aria-label": t("Suggestions") },
  });
  private completions: readonly Completion[] = [];
  private selected = 0;

  /** @param box the prompt box, told which option is selected. */
  constructor(private readonly box: HTMLTextAreaElement) {
    box.setAttribute("aria-controls", this.element.id);
    box.setAttribute("aria-autocomplete", "list");
    this.element.addEventListener("keydown", (event) => {
      if (this.takeKey(event.key)) {
        event.preventDefault();
        box.focus();
      }
    });
    this.show([]);
  }

  get isOpen(): boolean {
    return this.completions.length > 0;
  }

  /** Shows these; none closes the menu. */
  show(completions: readonly Completion[]): void {
    this.completions = completions;
    this.selected = 0;
    this.element.hidden = completions.length === 0;
    this.draw();
  }

  /** Puts more below what is shown; what is selected stays. */
  add(more: readonly Completion[]): void {
    if (this.isOpen) {
      this.completions = [...this.completions, ...more];
      this.draw();
    } else {
      this.show(more);
    }
  }

  /** True if the key was the menu's. */
  takeKey(key: string): boolean {
    if (!this.isOpen) {
      return false;
    }
    switch (key) {
      case "ArrowDown":
      case "ArrowUp": {
        const { length } = this.completions;
        this.selected = (this.selected + (key === "ArrowDown" ? 1 : length - 1)) % length;
        this.draw();
        return true;
      }
      case "Enter":
      case "Tab":
        this.completions[this.selected]?.accept();
        return true;
      case "Escape":
        this.show([]);
        return true;
      default:
        return false;
    }
  }

  private draw(): void {
    const options = this.completions.map((completion, index) => this.drawOption(completion, index));
    setChildren(this.element, ...options);
    if (this.isOpen) {
      this.box.setAttribute("aria-activedescendant", `completion-${this.selected}`);
      this.element.setAttribute("aria-activedescendant", `completion-${this.selected}`);
      options[this.selected]?.scrollIntoView({ block: "nearest" });
    } else {
      this.box.removeAttribute("aria-activedescendant");
      this.element.removeAttribute("aria-activedescendant");
    }
  }

  private drawOption(completion: Completion, index: number): HTMLElement {
    const isSelected = index === this.selected;
    return element(
      "div",
      {
        id: `completion-${index}`,
        className: isSelected ? "menu-option selected" : "menu-option",
        attributes: { role: "option", "aria-selected": String(isSelected) },
        on: {
          mousedown: (event) => {
            // The prompt box keeps the focus.
            event.preventDefault();
            completion.accept();
          },
        },
      },
      icon(completion.icon),
      element(
        "span",
        { className: "menu-label" },
        completion.label,
        completion.argument !== undefined && element("span", { className: "menu-argument", textContent: ` ${completion.argument}` }),
      ),
      element("span", { className: "menu-detail", textContent: completion.detail }),
    );
  }
}

/** Walks through earlier prompts. Pure. */
export class PromptHistory {
  private entries: readonly string[] = [];
  /** Index in `entries`; their length is the draft. */
  private at = 0;
  private draft = "";

  /** What there is to walk through, oldest first. A walk that is under way goes on. */
  setEntries(entries: readonly string[]): void {
    const fromEnd = this.entries.length - this.at;
    this.entries = entries;
    this.at = Math.max(0, entries.length - fromEnd);
  }

  /** The prompt before; undefined if there is none. `current` is kept as the draft when the walk begins. */
  earlier(current: string): string | undefined {
    if (this.at === this.entries.length) {
      this.draft = current;
    }
    if (this.at === 0) {
      return undefined;
    }
    this.at -= 1;
    return this.entries[this.at];
  }

  /** The prompt after, at the end the draft; undefined if the walk has not begun. */
  later(): string | undefined {
    if (this.at === this.entries.length) {
      return undefined;
    }
    this.at += 1;
    return this.entries[this.at] ?? this.draft;
  }

  /** Whether a walk is under way and the box still holds what it showed. */
  isShowing(text: string): boolean {
    return this.at < this.entries.length && this.entries[this.at] === text;
  }

  /** Ends the walk. */
  reset(): void {
    this.at = this.entries.length;
  }
}
