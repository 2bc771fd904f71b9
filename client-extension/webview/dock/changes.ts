/** What the agent changed and the user has neither kept nor undone: one line above the prompt box, which unfolds to the files. */

import { plural, t } from "../../src/l10n";
import type { ChangedFile, DecidedFile, OpenChanges, OpenTurn } from "../../src/protocol";
import { changedInWords, leftInWords, linesSpoken, STATUS } from "../../src/review/reviewText";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon, iconButton, setChildren, textButton } from "../dom";

export class ChangesView {
  private readonly words = element("span", { className: "changes-count" });
  private readonly lines = element("span", { className: "changes-lines" });
  private readonly toggle = element(
    "button",
    { type: "button", className: "fold changes-toggle", attributes: { "aria-expanded": "false" } },
    icon("chevron-right", "fold-mark"),
    this.words,
    this.lines,
  );
  private readonly list = element("ul", { className: "changed-files", attributes: { "aria-label": t("Changed files") } });
  readonly element: HTMLElement;
  private drawn: OpenChanges | undefined;
  private isOpen = false;

  /** @param refuse shows why something was not done. */
  constructor(
    private readonly actions: Actions,
    private readonly refuse: (message: string) => void,
  ) {
    const buttons = element(
      "div",
      { className: "changes-buttons" },
      linkButton(t("Review"), t("Show all changes beside what was before"), () => actions.runCommand("ullage.reviewChanges")),
      linkButton(t("Keep all"), t("Accept all changes of the agent"), () => void this.decide("keep", undefined)),
      linkButton(t("Undo all"), t("Take all changes of the agent back. What you changed yourself stays"), () =>
        actions.runCommand("ullage.undoAllChanges"),
      ),
    );
    this.element = element(
      "section",
      { className: "changes", hidden: true, attributes: { "aria-label": t("Changes of the agent") } },
      element("div", { className: "changes-head" }, this.toggle, buttons),
      this.list,
    );
    this.list.hidden = true;
    this.toggle.addEventListener("click", () => this.unfold(!this.isOpen));
  }

  update(changes: OpenChanges | undefined): void {
    if (changes === this.drawn) {
      return;
    }
    this.drawn = changes;
    const count = changes?.count ?? 0;
    if (count === 0 && this.element.contains(document.activeElement)) {
      document.querySelector<HTMLElement>(".composer textarea")?.focus();
    }
    this.element.hidden = count === 0;
    if (changes === undefined || count === 0) {
      this.unfold(false);
      return;
    }
    this.words.textContent = changedInWords(changes);
    drawLines(this.lines, changes);
    if (this.isOpen) {
      this.drawFiles();
    }
  }

  private unfold(isOpen: boolean): void {
    this.isOpen = isOpen;
    this.toggle.setAttribute("aria-expanded", String(isOpen));
    this.list.hidden = !isOpen;
    if (isOpen) {
      this.drawFiles();
    }
  }

  private drawFiles(): void {
    const files = this.drawn?.files ?? [];
    const more = (this.drawn?.count ?? 0) - files.length;
    const turns = this.drawn?.turns ?? [];
    const focused = this.list.contains(document.activeElement) ? placeOf(document.activeElement) : undefined;
    setChildren(
      this.list,
      ...(turns.length > 1 ? turns.toReversed().map((turn) => this.drawTurn(turn)) : []),
      ...files.map((file) => this.drawFile(file)),
      more > 0 && element("li", { className: "muted", textContent: t("and {more} more", { more }) }),
    );
    if (focused !== undefined) {
      const again = [...this.list.querySelectorAll("button")].find((button) => placeOf(button) === focused) ?? this.toggle;
      again.focus();
    }
  }

  /** Where several turns have open changes, each can be kept or undone by itself. */
  private drawTurn({ turnId, title, files }: OpenTurn): HTMLElement {
    const shown = visibleLine(title);
    const count = plural(files, t("{count} file"), t("{count} files"));
    const open = element(
      "button",
      {
        type: "button",
        className: "changed-file",
        title: t("Show what this turn changed: before it, and now"),
        attributes: { "aria-label": t("Turn “{title}”, {files}: show what it changed", { title: shown, files: count }) },
        on: { click: () => this.actions.runCommand("ullage.reviewTurn", turnId) },
      },
      icon("comment"),
      element("bdi", { className: "changed-turn", textContent: shown }),
    );
    const run = (command: "ullage.keepTurn" | "ullage.undoTurn") => () => this.actions.runCommand(command, turnId);
    const keep = iconButton({ label: t("Keep what “{title}” changed", { title: shown }), icon: "check", onClick: run("ullage.keepTurn") });
    const undo = iconButton({
      label: t("Undo what “{title}” changed", { title: shown }),
      icon: "discard",
      onClick: run("ullage.undoTurn"),
    });
    const lines = element("span", { className: "changes-lines muted", textContent: count });
    return element("li", { className: "changed-turn-row" }, element("div", { className: "changed-row" }, open, lines, keep, undo));
  }

  private drawFile(file: ChangedFile): HTMLElement {
    const shown = visibleLine(file.path);
    const slash = shown.lastIndexOf("/") + 1;
    const [name, folder] = [shown.slice(slash), shown.slice(0, Math.max(0, slash - 1))];
    const { letter, word } = STATUS[file.status];
    // Its name is the text that shows, and its description says what it does. So people who speak to their computer can say the name.
    const open = element(
      "button",
      {
        type: "button",
        className: "changed-file",
        title: t("{shown} ({word}): show it beside what was before", { shown, word }),
        attributes: { "data-path": file.path },
        on: { click: () => this.actions.runCommand("ullage.reviewFile", file.path) },
      },
      element("span", { className: `changed-status ${file.status}`, textContent: letter, attributes: { "aria-hidden": "true" } }),
      element("bdi", { className: "changed-name", textContent: name }),
      " ",
      folder !== "" && element("bdi", { className: "changed-folder muted", textContent: folder }),
      element("span", { className: "screen-reader-only", textContent: t(", {word}, {lines}", { word, lines: linesSpoken(file) }) }),
    );
    const lines = element("span", { className: "changes-lines" });
    if (file.binary !== true) {
      drawLines(lines, file);
    }
    const keep = iconButton({ label: t("Keep {shown}", { shown }), icon: "check", onClick: () => void this.decide("keep", file.path) });
    const undo = iconButton({ label: t("Undo {shown}", { shown }), icon: "discard", onClick: () => void this.decide("undo", file.path) });
    const note =
      file.note == null || file.note === "" ? undefined : element("div", { className: "changed-note muted" }, icon("info"), file.note);
    return element("li", {}, element("div", { className: "changed-row" }, open, lines, keep, undo), note);
  }

  private async decide(verb: "keep" | "undo", path: string | undefined): Promise<void> {
    try {
      const { files } = await this.actions.ask(`ullage/session/${verb}Changes`, { path });
      this.sayWhatIsLeft(files);
    } catch (error) {
      this.refuse(error instanceof Error ? error.message : String(error));
    }
  }

  private sayWhatIsLeft(files: readonly DecidedFile[]): void {
    const left = leftInWords(files);
    if (left !== undefined) {
      this.refuse(left);
    }
  }
}

/** Which button of which file it is. */
function placeOf(button: Element | null): string | undefined {
  return button?.getAttribute("aria-label") ?? button?.getAttribute("data-path") ?? undefined;
}

function linkButton(label: string, title: string, onClick: () => void): HTMLButtonElement {
  return textButton({ label, className: "link", title, onClick });
}

/** `+24 −7`, in colours, and in words for those who hear it. */
export function drawLines(into: HTMLElement, { added, removed }: { added: number; removed: number }): void {
  setChildren(
    into,
    added > 0 && element("span", { className: "added", textContent: `+${added}`, attributes: { "aria-hidden": "true" } }),
    removed > 0 && element("span", { className: "removed", textContent: `−${removed}`, attributes: { "aria-hidden": "true" } }),
    element("span", { className: "screen-reader-only", textContent: linesSpoken({ added, removed }) }),
  );
}
