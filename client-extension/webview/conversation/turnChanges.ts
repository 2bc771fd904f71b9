/** What a turn changed in files: one line below its last item. */

import { plural, t } from "../../src/l10n";
import type { TurnChanges } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, icon, setChildren, textButton } from "../dom";
import { drawLines } from "../dock/changes";

/** The line at the end of a turn. */
export class TurnLine {
  readonly element = element("div", { className: "turn-changes" });
  private drawn: TurnChanges | undefined;

  constructor(private readonly actions: Actions) {}

  /** True where there is something to say. */
  update(turn: TurnChanges | undefined): boolean {
    if (turn !== this.drawn) {
      this.drawn = turn;
      setChildren(this.element, ...(turn === undefined ? [] : this.draw(turn)));
    }
    return turn !== undefined;
  }

  private draw({ turnId, files, uncovered }: TurnChanges): HTMLElement[] {
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

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
