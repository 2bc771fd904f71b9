/** Taking the tour: the practice model plays it when it is asked in these words. */

import type { ActiveSession } from "./activeSession";
import type { ChatView } from "./chatView";
import { tell } from "./notify";

const TOUR = "Take the tour";

/** Shows the panel and begins the tour; where a real model answers, it says why there is none. */
export async function takeTour(session: ActiveSession, chat: ChatView): Promise<void> {
  await chat.focus();
  if (session.current?.model.practice === false) {
    void tell("The tour is played by the demo, and a model is connected here. Ask it anything.");
    return;
  }
  await session.request("ullage/session/prompt", { text: TOUR, attachments: [], delivery: "queue" });
}
