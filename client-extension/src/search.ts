/** The search over all sessions of the workspace, as a quick pick. */

import * as vscode from "vscode";
import type { ActiveSession } from "./activeSession";
import type { ChatView } from "./chatView";
import type { ServerConnection } from "./client";
import { NewestOnly } from "./newestOnly";
import type { SearchHit } from "./protocol";
import { hitTexts } from "./searchText";
import { tellError } from "./notify";
import { labelText } from "./shownText";

interface HitPick extends vscode.QuickPickItem {
  hit?: SearchHit;
}

/** Shows what is found while words are typed, to begin with for `words`; what is chosen is opened in the panel. */
export function searchSessions(connection: ServerConnection, session: ActiveSession, chat: ChatView, words = ""): void {
  const pick = vscode.window.createQuickPick<HitPick>();
  const search = new NewestOnly(
    async (query: string) => (query === "" ? undefined : { query, ...(await connection.request("ullage/workspace/search", { query })) }),
    (found, error) => {
      pick.busy = false;
      pick.items = error === undefined ? toPicks(found) : [{ label: `$(warning) ${labelText(messageOf(error))}`, alwaysShow: true }];
    },
  );
  pick.title = "Ullage: search all sessions";
  pick.placeholder = "Words that were said or returned, in any session of this workspace";
  pick.onDidChangeValue((value) => {
    pick.busy = true;
    search.put(value.trim());
  });
  pick.onDidAccept(() => {
    const hit = pick.selectedItems[0]?.hit;
    if (hit === undefined) {
      return;
    }
    pick.hide();
    open(hit, pick.value, session, chat).catch((error) => tellError(messageOf(error)));
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
  if (words !== "") {
    pick.value = words;
    pick.busy = true;
    search.put(words.trim());
  }
}

async function open({ sessionId, itemId }: SearchHit, words: string, session: ActiveSession, chat: ChatView): Promise<void> {
  if (session.current?.sessionId !== sessionId) {
    await session.open(sessionId);
  }
  await (itemId == null ? chat.focus() : chat.show({ kind: "item", sessionId, itemId, words }));
}

/** The server has searched already: all that it found is shown. */
function toPicks(found: { query: string; hits: readonly SearchHit[] } | undefined): HitPick[] {
  if (found?.hits.length === 0) {
    return [
      { label: "Nothing was found", detail: "None of these words was said or returned in any session of this workspace", alwaysShow: true },
    ];
  }
  return (found?.hits ?? []).map((hit) => {
    const { icon, ...texts } = hitTexts(hit, found?.query ?? "");
    return { ...texts, iconPath: new vscode.ThemeIcon(icon), hit, alwaysShow: true };
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
