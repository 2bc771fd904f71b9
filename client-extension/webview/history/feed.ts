/**
 * Asks for the epochs of the session whenever they may have changed; one request at a time, and none for what is older. What became of
 * items is asked for as far as they are shown: in a long session there are thousands.
 */

import type { Item, ParamsOf, ResultOf } from "../../src/protocol";
import type { PanelMessage } from "../state";

type Method = "ullage/session/epochs";

/** The session that is shown, and its items as far as they are loaded. */
interface Shown {
  sessionId: string;
  items: readonly Item[];
}

export class HistoryFeed {
  private asking = false;
  private again = false;

  constructor(
    private readonly ask: (params: ParamsOf<Method>) => Promise<ResultOf<Method>>,
    private readonly shown: () => Shown | undefined,
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
      const shown = this.shown();
      if (shown === undefined) {
        break;
      }
      const { sessionId } = shown;
      const history = await this.ask({ sessionId, since: oldestOf(shown.items) }).catch(() => undefined);
      if (history !== undefined) {
        this.take({ type: "history", sessionId, history });
      }
    } while (this.again);
    this.asking = false;
  }
}

/** The first item that something can become of. */
function oldestOf(items: readonly Item[]): string | undefined {
  return items.find((item) => item.kind !== "notice" && item.kind !== "compaction")?.id;
}

/** Whether a message can change what became of items, or brings some of which that is not known. */
export function changesHistory(message: PanelMessage): boolean {
  switch (message.type) {
    case "snapshot":
      return message.snapshot.items.some(({ kind }) => kind === "compaction");
    case "earlierItems":
      return message.items.length > 0;
    case "update": {
      const { update } = message.params;
      return update.kind === "item" && update.item.kind === "compaction" && update.item.status !== "in_progress";
    }
    default:
      return false;
  }
}
