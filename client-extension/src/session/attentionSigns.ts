/** Tells a user who looks elsewhere that the agent waits or is done (`attention.ts` decides): notification, sound, mark at the panel's icon. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { t } from "../l10n";
import { tell, warn } from "../notify";
import { settingOf } from "../settings";
import type { ActiveSession } from "./activeSession";
import { Attention, type Sign, type Wanted } from "./attention";

/** From now on. */
export function bindAttention(session: ActiveSession, chat: ChatView): vscode.Disposable {
  const attention = new Attention();
  const give = ({ notification, sound }: Sign) => {
    if (sound !== undefined) {
      chat.playSound(sound);
    }
    if (notification !== undefined) {
      void notify(notification, chat);
    }
    chat.setBadge(attention.badge);
  };
  const countApprovals = () => {
    const { approvals = [], waiting = [] } = session.current ?? {};
    give(attention.approvalsWait(approvals.length, chat.isLookedAt, wantedSigns(), waiting.length - approvals.length));
  };
  return vscode.Disposable.from(
    session.onDidReplace(() => attention.begin()),
    session.onDidChange(countApprovals),
    session.onUpdate(({ update }) => {
      if (update.kind === "state" && update.ended != null) {
        give(attention.turnEnded(update.ended, update.state, session.current?.title ?? "", chat.isLookedAt, wantedSigns()));
      }
    }),
    chat.onDidChangeVisibility(() => {
      if (chat.isLookedAt) {
        attention.looked();
      }
      chat.setBadge(attention.badge);
    }),
  );
}

/** The user's settings. */
export function wantedSigns(): Wanted {
  return {
    approval: settingOf("notifications.approval", true),
    done: settingOf("notifications.done", true),
    sound: settingOf("notifications.sound", false),
  };
}

async function notify({ text, level }: NonNullable<Sign["notification"]>, chat: ChatView): Promise<void> {
  const show = t("Show");
  const chosen = await (level === "info" ? tell(text, show) : warn(text, show));
  if (chosen === show) {
    await chat.focus();
  }
}
