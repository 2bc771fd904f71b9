/**
 * What VS Code shows of the session beside the panel: the gauge in the status bar, the context keys of the manifest, and how a compaction went that
 * the user asked for, with Undo. Compactions that come by themselves have their card in the panel.
 */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { formatChange, formatTokens } from "../format";
import { t } from "../l10n";
import { tell, tellError, warn } from "../notify";
import type { CompactionItem } from "../protocol";
import { fitOffer, reasonOf } from "../server/answers";
import type { ServerConnection } from "../server/connection";
import type { ActiveSession } from "./activeSession";
import { GAUGE_COMMANDS, type GaugeView, render } from "./gauge";

/** Shows the gauge from now on, and keeps it true. */
export function bindGauge(connection: ServerConnection, session: ActiveSession): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("ullage.gauge", vscode.StatusBarAlignment.Right, 100);
  item.name = "Ullage context gauge";
  const refresh = () =>
    show(
      item,
      render(
        session.current?.gauge,
        session.current?.state ?? "idle",
        connection.status,
        session.current?.approvals.length,
        process.platform === "darwin",
        questionsOf(session),
      ),
    );
  refresh();
  item.show();
  return vscode.Disposable.from(item, connection.onDidChangeStatus(refresh), session.onDidChange(refresh));
}

function questionsOf(session: ActiveSession): number {
  return session.current === undefined ? 0 : session.current.waiting.length - session.current.approvals.length;
}

function show(item: vscode.StatusBarItem, view: GaugeView): void {
  item.text = view.text;
  item.tooltip = new vscode.MarkdownString(view.tooltip, true);
  item.tooltip.isTrusted = { enabledCommands: GAUGE_COMMANDS };
  item.backgroundColor = view.background && new vscode.ThemeColor(`statusBarItem.${view.background}Background`);
  item.accessibilityInformation = { label: view.ariaLabel, role: "button" };
  item.command = view.command;
}

/**
 * Keeps the context keys true that `when` clauses of the manifest read: `ullage.ready`, `ullage.sessionState`, and how many `ullage.approvals`
 * and `ullage.questions` wait. `ullage.chatFocused` is the panel's own (`chatView.ts`).
 */
export function bindContextKeys(connection: ServerConnection, session: ActiveSession): vscode.Disposable {
  const refresh = () => {
    void vscode.commands.executeCommand(
      "setContext",
      "ullage.ready",
      connection.status.state === "running" && session.current !== undefined,
    );
    void vscode.commands.executeCommand("setContext", "ullage.sessionState", session.current?.state ?? "idle");
    void vscode.commands.executeCommand("setContext", "ullage.approvals", session.current?.approvals.length ?? 0);
    void vscode.commands.executeCommand("setContext", "ullage.questions", questionsOf(session));
  };
  refresh();
  return vscode.Disposable.from(connection.onDidChangeStatus(refresh), session.onDidChange(refresh));
}

const REMEMBERED = 20;

/** Says how a compaction that the user asked for went, to who does not see its card. */
export class CompactionNotice {
  private readonly awaited = new Set<string>();
  /** The newest compactions that ended, by id: one may end before the answer that names it is handled. */
  private readonly ended = new Map<string, CompactionItem>();

  constructor(
    private readonly session: ActiveSession,
    private readonly chat: ChatView,
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
      await tellError(t("Compaction failed: {error}", { error: item.error || t("nothing was changed") }));
      return;
    }
    if (item.status === "cancelled") {
      await (item.error === "" ? undefined : tell(t("Not compacted: {error}", { error: item.error })));
      return;
    }
    if (this.chat.isLookedAt) {
      return; // its card says it, with Undo; a notification would lie over the prompt box
    }
    const sizes = item.tokensAfter == null ? formatTokens(item.tokensBefore) : formatChange(item.tokensBefore, item.tokensAfter);
    const undo = t("Undo");
    if ((await tell(t("Compacted: {sizes} tokens", { sizes }), undo)) === undo) {
      await undoOrRedo(this.session, "undo", item.id).catch((error: Error) => tellError(error.message));
    }
  }
}

/**
 * Undo and redo, with the way out that is offered where the conversation would then be larger than the window.
 *
 * @throws Error with a message for the user.
 */
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
