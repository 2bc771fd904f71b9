/** An earlier prompt written in another way: in a fork from before it, with the files as they are or as they were then. */

import type { ChatView } from "../chatView";
import { t } from "../l10n";
import { forkSession } from "../session/pickers";
import type { ActiveSession } from "../session/activeSession";
import { goBackAndEdit } from "./goingBack";

/** What the panel says of a prompt: its id, and the id of the first turn from it on that changed files; empty where none did. */
export interface PromptToEdit {
  itemId: string;
  turnId: string;
}

/** As the panel writes it into the one argument that a command takes. */
function promptToEdit(argument: unknown): PromptToEdit | undefined {
  const [itemId = "", turnId = ""] = typeof argument === "string" ? argument.split(" ") : [];
  return itemId === "" ? undefined : { itemId, turnId };
}

/** Puts the prompt into the box, in a fork. Where files were changed since, the user says whether they go back, too. */
export async function editPrompt(session: ActiveSession, chat: ChatView, argument: unknown): Promise<void> {
  const prompt = promptToEdit(argument);
  if (prompt === undefined) {
    throw new Error(t("Choose “Edit and send again” at a prompt"));
  }
  if (prompt.turnId === "") {
    await forkSession(session, chat, undefined, prompt.itemId);
  } else {
    await goBackAndEdit(session, chat, prompt);
  }
}
