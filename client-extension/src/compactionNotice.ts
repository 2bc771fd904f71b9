/** Says how a compaction that the user asked for went, with Undo. Compactions that come by themselves have their card in the panel. */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import { formatChange, formatTokens } from "./format";
import type { CompactionItem } from "./protocol";
import { undoOrRedo } from "./undoing";
import { tell, tellError } from "./notify";

const REMEMBERED = 20;

export class CompactionNotice {
  private readonly awaited = new Set<string>();
  /** The newest compactions that ended, by id: one may end before the answer that names it is handled. */
  private readonly ended = new Map<string, CompactionItem>();

  constructor(
    private readonly session: ActiveSession,
    subscriptions: vscode.Disposable[],
  ) {
    subscriptions.push(
      session.onUpdate(({ update }) => {
        if (update.kind === "item" && update.item.kind === "compaction") {
          this.take(update.item);
        }
      }),
    );
  }

  /** Tells the user when the compaction with this id has ended. */
  announce(compactionId: string): void {
    this.awaited.add(compactionId);
    const item = this.ended.get(compactionId);
    if (item !== undefined) {
      this.take(item);
    }
  }

  private take(item: CompactionItem): void {
    if (item.status === "in_progress") {
      return;
    }
    this.ended.set(item.id, item);
    if (this.ended.size > REMEMBERED) {
      this.ended.delete([...this.ended.keys()][0] ?? "");
    }
    if (this.awaited.delete(item.id)) {
      void this.tell(item);
    }
  }

  private async tell(item: CompactionItem): Promise<void> {
    if (item.status === "failed") {
      await tellError(`Compaction failed: ${item.error || "nothing was changed"}`);
      return;
    }
    const sizes = item.tokensAfter == null ? formatTokens(item.tokensBefore) : formatChange(item.tokensBefore, item.tokensAfter);
    const choice = await tell(`Compacted: ${sizes} tokens`, "Undo");
    if (choice === "Undo") {
      await undoOrRedo(this.session, "undo", item.id).catch((error: Error) => tellError(error.message));
    }
  }
}
