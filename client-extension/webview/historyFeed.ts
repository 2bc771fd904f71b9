/** Asks for the epochs of the session whenever they may have changed; one request at a time, and none for what is older. */

import type { ParamsOf, ResultOf } from "../src/protocol";
import type { PanelMessage } from "./state";

type Method = "ullage/session/epochs";

export class HistoryFeed {
  /** What each item is, is wanted too: somebody reads the list. */
  titled = false;
  private asking = false;
  private again = false;

  constructor(
    private readonly ask: (params: ParamsOf<Method>) => Promise<ResultOf<Method>>,
    private readonly sessionId: () => string | undefined,
    private readonly take: (message: PanelMessage) => void,
  ) {}

  /** Asks anew where a message says that a compaction was made, undone or redone, or brings the first ones. */
  follow(message: PanelMessage): void {
    if (changesHistory(message)) {
      void this.refresh();
    }
  }

  /** A failure leaves what is known: the marks are no reason to disturb anybody. */
  async refresh(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    do {
      this.again = false;
      const sessionId = this.sessionId();
      if (sessionId === undefined) {
        break;
      }
      const { titled } = this;
      const history = await this.ask({ sessionId, titles: titled }).catch(() => undefined);
      if (history !== undefined) {
        this.take({ type: "history", sessionId, history });
      }
    } while (this.again);
    this.asking = false;
  }
}

/** Whether a message can change what became of items. */
export function changesHistory(message: PanelMessage): boolean {
  switch (message.type) {
    case "snapshot":
      return message.snapshot.items.some(({ kind }) => kind === "compaction");
    case "earlierItems":
      return message.items.some(({ kind }) => kind === "compaction");
    case "update": {
      const { update } = message.params;
      return update.kind === "item" && update.item.kind === "compaction" && update.item.status !== "in_progress";
    }
    default:
      return false;
  }
}
