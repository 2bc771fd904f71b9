/** The sessions of the workspace as quick picks: the list of all, the search in all, and the import of more. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { plural, t } from "../l10n";
import {
  choicesOf,
  type SessionsToImport,
  counted,
  descriptionOf,
  fileNameOf,
  hitTexts,
  type Importable,
  NewestOnly,
  importQuestion,
} from "./pickerText";
import { lostWith, titleOf } from "./sessionRows";
import { askFor, confirm, tell, tellError } from "../notify";
import type { SearchHit, SessionSummary } from "../protocol";
import type { ServerConnection } from "../server/connection";
import { labelText, sentence } from "../visible";
import type { ActiveSession } from "./activeSession";

const RENAME: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("edit"), tooltip: t("Rename") };
const FORK: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("repo-forked"), tooltip: t("Fork") };
const SEARCH: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("search"), tooltip: t("Search in all sessions") };
const DELETE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("trash"), tooltip: "Delete" };

interface SessionPick extends vscode.QuickPickItem {
  summary: SessionSummary;
}

/** Lets the user open, fork, rename or delete a session. */
export async function pickSession(connection: ServerConnection, session: ActiveSession, chat: ChatView): Promise<void> {
  const pick = vscode.window.createQuickPick<SessionPick>();
  const refresh = async () => {
    const { sessions } = await connection.request("ullage/session/list", {});
    pick.items = sessions.map((summary) => toPick(summary, summary.sessionId === session.current?.sessionId));
    pick.busy = false;
  };
  pick.title = t("Ullage: sessions");
  pick.placeholder = t("Open a session");
  pick.matchOnDescription = true;
  pick.busy = true;
  pick.buttons = [SEARCH];
  pick.onDidTriggerButton(() => void vscode.commands.executeCommand("ullage.searchSessions"));
  pick.onDidAccept(() => {
    const chosen = pick.selectedItems[0];
    pick.hide();
    if (chosen !== undefined) {
      session.open(chosen.summary.sessionId).catch(showError);
    }
  });
  pick.onDidTriggerItemButton(async ({ button, item }) => {
    try {
      if (button === FORK) {
        pick.hide();
        return await forkSession(session, chat, item.summary.sessionId);
      }
      await (button === RENAME ? rename(connection, item.summary) : remove(connection, session, item.summary));
      // The question has taken the place of the list.
      await pickSession(connection, session, chat);
    } catch (error) {
      showError(error as Error);
    }
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
  await refresh().catch((error: Error) => {
    pick.hide();
    showError(error);
  });
}

function showError(error: Error): void {
  void tellError(error.message);
}

async function rename(connection: ServerConnection, summary: Pick<SessionSummary, "sessionId" | "title">): Promise<void> {
  const title = await askFor({
    title: t("Rename session"),
    value: summary.title,
    validateInput: (value) => (value.trim() ? undefined : t("A title is needed")),
  });
  if (title !== undefined) {
    await connection.request("ullage/session/rename", { sessionId: summary.sessionId, title: title.trim() });
  }
}

async function remove(connection: ServerConnection, session: ActiveSession, summary: SessionSummary): Promise<void> {
  if (!(await confirm(t('Delete "{title}"?', { title: titleOf(summary) }), lostWith(summary), t("Delete")))) {
    return;
  }
  await connection.request("ullage/session/delete", { sessionId: summary.sessionId });
  if (session.current?.sessionId === summary.sessionId) {
    await session.open(undefined);
  }
}

/** Renames or deletes a session that is named, else the one that is shown. @throws Error where the server refuses. */
export async function changeSession(
  what: "rename" | "delete",
  connection: ServerConnection,
  session: ActiveSession,
  sessionId: unknown,
): Promise<void> {
  const { sessions } = await connection.request("ullage/session/list", {});
  const id = typeof sessionId === "string" ? sessionId : session.current?.sessionId;
  const summary = sessions.find((each) => each.sessionId === id);
  if (summary === undefined) {
    throw new Error(t("This session is gone"));
  }
  await (what === "rename" ? rename(connection, summary) : remove(connection, session, summary));
}

function toPick(summary: SessionSummary, isActive: boolean): SessionPick {
  return {
    label: labelText(titleOf(summary)),
    description: descriptionOf(summary, isActive, Date.now() / 1000),
    buttons: summary.foreign ? [RENAME, DELETE] : [FORK, RENAME, DELETE],
    summary,
  };
}

/**
 * Opens a fork of a session (the current one where none is named), up to an item of it where one is. The prompt that it was forked before
 * is put into the box, to be written in another way.
 */
export async function forkSession(session: ActiveSession, chat: ChatView, sessionId?: string, itemId?: string): Promise<void> {
  const prompt = await session.fork(sessionId, itemId);
  if (prompt !== undefined) {
    await chat.show({ kind: "prompt", prompt });
  }
  await chat.focus();
}

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
  pick.title = t("Ullage: search all sessions");
  pick.placeholder = t("Words that were said or returned, in any session of this workspace");
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
      {
        label: t("Nothing was found"),
        detail: t("None of these words was said or returned in any session of this workspace"),
        alwaysShow: true,
      },
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

/**
 * Gives this folder sessions: those that it brings along in `.ullage`, to be read as somebody else's or, on the user's word, to be gone on with; or
 * those of a folder that was renamed or moved. Then shows the list of sessions.
 *
 * @throws Error where the server refuses.
 */
export async function importSessions(connection: ServerConnection, session: ActiveSession, chat: ChatView): Promise<void> {
  const importable = await connection.request("ullage/workspace/importable", {});
  const choices = choicesOf(importable);
  if (choices.length === 0) {
    void tell(t("There is nothing to import: .ullage of this folder has no sessions, and none are kept of folders that are gone."));
    return;
  }
  const choice = await vscode.window.showQuickPick(choices, { title: t("Ullage: import sessions"), matchOnDescription: true });
  if (choice === undefined || !(await isSure(choice.chosen, importable))) {
    return;
  }
  const { sessions, unreadable, failures } = await connection.request("ullage/workspace/import", choice.chosen);
  const left = [
    ...failures,
    ...(unreadable > 0 ? [plural(unreadable, t("{count} entry could not be read"), t("{count} entries could not be read"))] : []),
  ];
  const told = left.map((each) => ` ${sentence(each)}`).join("");
  void tell(`${counted(sessions, t("{count} new session was imported."), t("{count} new sessions were imported."))}${told}`);
  await pickSession(connection, session, chat);
}

/** Nothing is asked about what is the user's own anyway. */
async function isSure({ mine, fromGone }: SessionsToImport, { brought, tracked }: Importable): Promise<boolean> {
  if (fromGone !== undefined) {
    return true;
  }
  if (mine !== true) {
    const detail = t(
      "Whoever wrote the folder may have written them. You can read and search them. They cannot be continued, and nothing of them is sent to a model.",
    );
    return confirm(t("Import the sessions in .ullage of this folder?"), detail, t("Import"));
  }
  return confirm(t("Are all of these sessions yours, and yours alone?"), importQuestion(brought, tracked), t("They are mine"));
}

/** Lets the user choose what the agent may do in this session. */
export async function pickMode(session: ActiveSession): Promise<void> {
  const modes = session.current?.modes;
  if (modes === undefined) {
    void tell(t("This session can only be read"));
    return;
  }
  const picks = modes.availableModes.map(({ id, name, description }) => ({
    label: labelText(name),
    description: id === modes.currentModeId ? t("current") : "",
    detail: labelText(description),
    id,
  }));
  const chosen = await vscode.window.showQuickPick(picks, {
    title: t("Ullage: mode of this session"),
    placeHolder: t("What the agent may do"),
  });
  if (chosen !== undefined) {
    await session.request("ullage/session/setMode", { modeId: chosen.id });
  }
}

/** Saves the session as Markdown or JSON Lines, where the user says. @throws Error where it cannot be written. */
export async function exportSession(session: ActiveSession): Promise<void> {
  const title = fileNameOf(session.current?.title ?? "");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const target = await vscode.window.showSaveDialog({
    title: t("Export session"),
    filters: { Markdown: ["md"], "JSON Lines": ["jsonl"] },
    ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, `${title}.md`) }),
  });
  if (target === undefined) {
    return;
  }
  const format = target.path.toLowerCase().endsWith(".jsonl") ? "jsonl" : "markdown";
  const { text } = await session.request("ullage/session/export", { format });
  await vscode.workspace.fs.writeFile(target, Buffer.from(text, "utf8"));
  await vscode.window.showTextDocument(target, { preview: false });
}
