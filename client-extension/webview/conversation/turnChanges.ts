/** What a turn changed in files: one line below its last item. */

import { plural, t } from "../../src/l10n";
import type { Actions } from "../actions";
import { CHANGES, element, icon, setChildren, textButton } from "../dom";
import { drawLines } from "../dock/changes";
import type { Turn } from "./turns";

/** The line at the end of a turn. */
export class TurnLine {
  readonly element = element("div", { className: "turn-changes" });
  private drawn: Turn | undefined;

  constructor(private readonly actions: Actions) {}

  /** True if there is something to say. */
  update(turn: Turn | undefined): boolean {
    if (turn !== this.drawn) {
      this.drawn = turn;
      const hadFocus = this.element.contains(document.activeElement);
      setChildren(this.element, ...(turn === undefined ? [] : this.draw(turn)));
      if (hadFocus) {
        this.element.querySelector("button")?.focus();
      }
    }
    return turn !== undefined;
  }

  private draw({ turnId, files, uncovered, openFiles = 0 }: Turn): HTMLElement[] {
    const lines = element("span", { className: "changes-lines" });
    const [added, removed] = [sumOf(files.map((file) => file.added)), sumOf(files.map((file) => file.removed))];
    drawLines(lines, { added, removed });
    const review = textButton({
      label: plural(files.length, t("Changed {count} file"), t("Changed {count} files")),
      className: "link",
      title: t("Show what this turn changed: before it, and now"),
      onClick: () => this.actions.runCommand("ullage.reviewTurn", turnId),
    });
    const missed = uncovered.map(({ path, why }) => `${path}: ${why}`);
    return [
      icon("diff-multiple"),
      ...(files.length > 0 ? [review, lines] : []),
      ...(openFiles > 0 ? turnButtons(turnId, this.actions) : []),
      ...(missed.length > 0
        ? [
            element("span", {
              className: "muted",
              textContent: t("{count} not covered", { count: missed.length }),
              title: missed.slice(0, 20).join("\n"),
            }),
          ]
        : []),
    ];
  }
}

/** Keep and Undo for what is open of a turn. */
function turnButtons(turnId: string, actions: Actions): HTMLElement[] {
  return [
    textButton({
      label: t("Keep"),
      className: `link ${CHANGES}`,
      title: t("Accept what this turn changed"),
      onClick: () => actions.runCommand("ullage.keepTurn", turnId),
    }),
    textButton({
      label: t("Undo"),
      className: `link ${CHANGES}`,
      title: t("Take back what this turn changed. What you and later turns changed stays"),
      onClick: () => actions.runCommand("ullage.undoTurn", turnId),
    }),
  ];
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
