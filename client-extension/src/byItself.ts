/** When the conversation is compacted without being asked for, in words: the gauge's tooltip and the panel's card say the same. */

import { formatTokens } from "./format";
import type { Gauge } from "./protocol";

export function whenByItself({ auto, waits }: Gauge): string {
  if (!auto) {
    return "Does not compact by itself";
  }
  if (waits == null) {
    return "Compacts by itself at 100%";
  }
  return `You undid the last compaction: none is made by itself before ${formatTokens(waits)} more tokens have come, or the window is nearly full`;
}
