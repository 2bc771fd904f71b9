/** Sessions of other programs: one is chosen by its file, and one is gone on with. The panel lists and shows them. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { t } from "../l10n";
import type { ActiveSession } from "./activeSession";

/** Lets the user choose a file that holds a session of another program, wherever it lies, and shows it. */
export async function chooseOther(chat: ChatView): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: t("A session of another program"),
    openLabel: t("Show it"),
    canSelectMany: false,
  });
  const file = chosen?.[0];
  if (file !== undefined) {
    await chat.show({ kind: "others", file: file.fsPath });
  }
}

/** Opens a session of this workspace with all that was said in that one. @throws Error where the server refuses. */
export async function goOnWithOther(session: ActiveSession, chat: ChatView, otherId: unknown): Promise<void> {
  if (typeof otherId === "string") {
    await session.goOnWithOther(otherId);
    await chat.focus();
  } else {
    await chat.show({ kind: "others" });
  }
}
