/** When the conversation is compacted without being asked for, in words: the gauge's tooltip and the panel's card say the same. */

import { formatDollars, formatShare, formatTokens } from "./format";
import type { EarlySaving, Gauge } from "./protocol";

/** One sentence that is true in every state: what decides, and at which size. */
export function whenByItself({ next, line, used }: Gauge): string {
  if (next.why === "off" || next.at == null) {
    return "Does not compact by itself, unless the model refuses a prompt as too long";
  }
  const at = formatShare(line > 0 ? next.at / line : 0);
  switch (next.why) {
    case "undone":
      return `You undid the last compaction: none is made by itself before ${formatTokens(Math.max(0, next.at - used))} more tokens have come`;
    case "grown":
      return `The last compaction left much: compacts by itself at ${at}`;
    case "unanswered":
      return `Compacts by itself at ${at}, once the model has answered`;
    case "failed":
      return "Compacting failed several times: it is tried again in a few minutes";
    case "window":
      return `Compacts by itself at ${at}, when the window is nearly full`;
    case "line":
      return next.whileEditing
        ? `Compacts when you pause while editing, since the next turn may fill it, or at ${at}`
        : `Compacts by itself at ${at}`;
  }
}

/** The announcement of a compaction that is to save money; undefined where none is ahead. */
export function savingAhead({ next }: Gauge): string | undefined {
  return next.saving == null ? undefined : announced(next.saving);
}

function announced({ when, dollars, postponed }: EarlySaving): string {
  const saves = `compact to save about ${formatDollars(dollars)}`;
  if (postponed === "turn") {
    return `Would ${saves}: not before your next turn has ended`;
  }
  if (postponed === "session") {
    return `Would ${saves}: not in this session`;
  }
  return when === "prompt"
    ? `Will ${saves} with your next prompt`
    : `Will ${saves} when you pause for 4 minutes, or with the prompt after that`;
}
