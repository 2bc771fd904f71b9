/** Forking a session: the fork opens at once, with the cursor in the prompt box. */

import type { ActiveSession } from "./activeSession";
import type { ChatView } from "./chatView";

/**
 * Opens a fork of a session (the current one where none is named), up to an item of it where one is. The prompt that it was forked before
 * is put into the box, to be written in another way.
 */
export async function forkSession(session: ActiveSession, chat: ChatView, sessionId?: string, itemId?: string): Promise<void> {
  const prompt = await session.fork(sessionId, itemId);
  if (prompt !== undefined) {
    await chat.show({ kind: "prompt", prompt });
  }
  await chat.focus();
}
