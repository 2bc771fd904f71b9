/** The comments on a plan as words for the agent. No VS Code in here. */

import { t } from "../l10n";

/** What was said about one line of a plan; `line` counts from 1. */
interface PlanComment {
  line: number;
  quote: string;
  words: readonly string[];
}

const QUOTED = 80;

/** What was typed, then each comment with its line and the beginning of what stands there, from top to bottom. */
export function withComments(typed: string, comments: readonly PlanComment[]): string {
  const said = comments
    .filter(({ words }) => words.some((each) => each.trim() !== ""))
    .toSorted((one, other) => one.line - other.line)
    .map(({ line, quote, words }) => {
      const beginning = quote.trim().length > QUOTED ? `${quote.trim().slice(0, QUOTED)}…` : quote.trim();
      const comment = words.join(" / ");
      return beginning === ""
        ? t("Line {line}: {comment}", { line, comment })
        : t("Line {line} (“{beginning}”): {comment}", { line, beginning, comment });
    });
  return [typed.trim(), ...said].filter((part) => part !== "").join("\n");
}
