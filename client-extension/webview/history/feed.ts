/**
 * Asks for the epochs of the session whenever they may have changed; one request at a time, and none for what is older. What became of
 * items is asked for as far as they are shown: in a long session there are thousands.
 */

import type { Item, ParamsOf, ResultOf } from "../../src/protocol";
import type { PanelMessage } from "../state";

type Method = "ullage/session/epochs";

/** The session that is shown, and its items as far as they are loaded. */
interface ShownItems {
  sessionId: string;
  items: readonly Item[];
}

export class HistoryFeed {
  private asking = false;
  private again = false;

  constructor(
    private readonly ask: (params: ParamsOf<Method>) => Promise<ResultOf<Method>>,
    private readonly shown: () => ShownItems | undefined,
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

/** Asks what turns changed in files: of all when a session is shown, of the newest whenever that may have changed. */
export class TurnsFeed {
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly ask: (params: ParamsOf<"ullage/session/changes">) => Promise<ResultOf<"ullage/session/changes">>,
    private readonly shown: () => ShownItems | undefined,
    private readonly take: (message: PanelMessage) => void,
  ) {}

  follow(message: PanelMessage): void {
    if (message.type === "snapshot") {
      this.last = this.refresh(this.last, undefined);
    } else if (message.type === "update" && message.params.update.kind === "state" && message.params.update.ended != null) {
      this.last = this.refresh(this.last, message.params.update.ended.promptId);
    }
  }

  /** One after the other. A turn that changed nothing is refused, and a failure leaves what is known. */
  private async refresh(before: Promise<void>, turnId: string | undefined): Promise<void> {
    await before;
    const sessionId = this.shown()?.sessionId;
    if (sessionId === undefined) {
      return;
    }
    const found = await this.ask({ sessionId, turnId }).catch(() => undefined);
    if (found !== undefined && found.turns.length > 0) {
      this.take({ type: "turns", sessionId, turns: found.turns });
    }
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
