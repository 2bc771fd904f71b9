/** Which mode comes next, and which words name one. Pure. */

import type { ModeId, SessionModes } from "../../src/protocol";

/** The mode after the one in force, in the order in which they are offered. */
export function modeAfter({ currentModeId, availableModes }: SessionModes): ModeId {
  const index = availableModes.findIndex(({ id }) => id === currentModeId);
  return availableModes[(index + 1) % availableModes.length]?.id ?? currentModeId;
}

/** Whether what was typed after `/mode` is the id of a mode. */
export function isModeId(typed: string): typed is ModeId {
  return typed === "ask" || typed === "plan" || typed === "act";
}
