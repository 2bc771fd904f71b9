/** Undo and redo, with the way out that is offered where the conversation would then be larger than the window. */

import type { ActiveSession } from "./activeSession";
import { fitOffer, reasonOf } from "./refusal";
import { warn } from "./notify";

/** @throws Error with a message for the user. */
export async function undoOrRedo(session: ActiveSession, verb: "undo" | "redo", compactionId?: string): Promise<void> {
  const method = `ullage/session/${verb}Compaction` as const;
  try {
    await session.request(method, { compactionId });
  } catch (error) {
    const offer = fitOffer(verb, reasonOf(error));
    if (offer === undefined) {
      throw error;
    }
    const choice = await warn((error as Error).message, offer);
    if (choice !== undefined) {
      await session.request(method, { compactionId, fit: true });
    }
  }
}
