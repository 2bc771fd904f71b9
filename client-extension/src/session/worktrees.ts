/** A session that works in a worktree of git of its own: making one, and what the user does with it. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { plural, t } from "../l10n";
import { confirm, tell } from "../notify";
import type { WorktreeFile, WorktreeStanding } from "../protocol";
import { settlesWithin } from "../server/answers";
import { labelText } from "../visible";
import type { ActiveSession } from "./activeSession";
import { BRINGING, broughtInWords, inConflict, lostWithWorktree, standingInWords, takenBackInWords, toBring } from "./worktreeText";

/** Milliseconds. A notification stays for most of a second at least, so one that is soon over is not shown at all. */
const SHOWN_AFTER = 1_000;

export interface WorktreeChoice extends vscode.QuickPickItem {
  run?: () => Promise<unknown>;
}

/** Starts a session whose agent works beside the user, in a folder of its own. @throws Error where there is no repository to make one of. */
export async function newSessionInWorktree(session: ActiveSession, chat: ChatView): Promise<void> {
  const making = session.startNew(true);
  if (!(await settlesWithin(making, SHOWN_AFTER))) {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: t("Making a worktree from the last commit…") },
      () => making,
    );
  }
  await making;
  await chat.focus();
}

/** Shows what can be done with the worktree of the session. @throws Error where it has none, or where that is gone. */
export async function showWorktree(session: ActiveSession): Promise<void> {
  const standing = await session.request("ullage/session/worktree", {});
  const { worktree } = standing;
  const folder = vscode.Uri.file(worktree.path);
  const choices: WorktreeChoice[] = [
    {
      label: `$(git-pull-request-go-to-changes) ${t("Bring changes back")}`,
      description: standingInWords(standing),
      detail: t("As changes that are not committed. What you changed stays."),
      run: () => bringBack(session, standing),
    },
    ...takingBack(session, standing),
    {
      label: `$(diff-multiple) ${t("Compare with the workspace folder")}`,
      description: t("workspace folder ↔ worktree"),
      run: () => compare(standing.files),
    },
    {
      label: `$(empty-window) ${t("Open in a new window")}`,
      description: labelText(worktree.path),
      run: async () => vscode.commands.executeCommand("vscode.openFolder", folder, { forceNewWindow: true }),
    },
    { label: `$(trash) ${t("Remove the worktree…")}`, description: t("what is lost is said first"), run: () => remove(session, standing) },
  ];
  const rows = [...inConflict(standing), ...toBring(standing)].map((file): WorktreeChoice => ({
    label: `$(${file.conflict == null ? BRINGING[file.action].icon : "warning"}) ${labelText(file.path)}`,
    description: labelText(file.conflict ?? BRINGING[file.action].word),
    run: () => compareOne(file),
  }));
  const separated = rows.length === 0 ? [] : [{ label: t("What is different there"), kind: vscode.QuickPickItemKind.Separator }, ...rows];
  const chosen = await vscode.window.showQuickPick<WorktreeChoice>([...choices, ...separated], {
    title: t("Worktree {branch}", { branch: labelText(worktree.branch) }),
    placeHolder: t("The agent of this session works there, and not in the workspace folder"),
  });
  await chosen?.run?.();
}

async function bringBack(session: ActiveSession, standing: WorktreeStanding): Promise<void> {
  const { files } = await session.request("ullage/session/bringBack", {});
  const [compareThem, undo] = [t("Compare"), t("Undo")];
  const conflicts = inConflict(standing);
  const offered = [...(conflicts.length > 0 ? [compareThem] : []), ...(files.some(({ outcome }) => outcome === "done") ? [undo] : [])];
  const chosen = await tell(broughtInWords(files), ...offered);
  if (chosen === compareThem) {
    await compare(conflicts);
  } else if (chosen === undo) {
    await takeBack(session);
  }
}

/** The choice to take back what was brought into the workspace folder; none where nothing was, or where the worktree is gone. */
export async function whatWasBrought(session: ActiveSession): Promise<WorktreeChoice[]> {
  if (session.current?.worktree === undefined) {
    return [];
  }
  try {
    return takingBack(session, await session.request("ullage/session/worktree", {}));
  } catch {
    return [];
  }
}

function takingBack(session: ActiveSession, { brought }: WorktreeStanding): WorktreeChoice[] {
  return brought == null
    ? []
    : [
        {
          label: `$(discard) ${t("Undo bringing back")}`,
          description: plural(brought, t("{count} file"), t("{count} files")),
          detail: t("The files get what they held before. What you changed since stays."),
          run: () => takeBack(session),
        },
      ];
}

async function takeBack(session: ActiveSession): Promise<void> {
  const { files } = await session.request("ullage/session/takeBack", {});
  void tell(takenBackInWords(files));
}

/** On the left the workspace folder, on the right the worktree. */
async function compare(files: readonly WorktreeFile[]): Promise<void> {
  const different = files.filter(({ action, conflict }) => action !== "same" || conflict != null);
  if (different.length === 0) {
    void tell(t("Nothing differs from the workspace folder."));
    return;
  }
  await vscode.commands.executeCommand(
    "vscode.changes",
    t("Workspace folder ↔ worktree"),
    different.map((file) => {
      const [here, there] = [vscode.Uri.parse(file.homeUri, true), vscode.Uri.parse(file.uri, true)];
      return [here, file.action === "create" ? undefined : here, file.action === "delete" ? undefined : there];
    }),
  );
}

async function compareOne(file: WorktreeFile): Promise<void> {
  const [here, there] = [vscode.Uri.parse(file.homeUri, true), vscode.Uri.parse(file.uri, true)];
  await (file.action === "create"
    ? vscode.window.showTextDocument(there, { preview: true })
    : file.action === "delete"
      ? vscode.window.showTextDocument(here, { preview: true })
      : vscode.commands.executeCommand("vscode.diff", here, there, t("{path} (workspace folder ↔ worktree)", { path: file.path })));
}

async function remove(session: ActiveSession, standing: WorktreeStanding): Promise<void> {
  const title = t("Remove the worktree {branch}?", { branch: standing.worktree.branch });
  if (!(await confirm(title, lostWithWorktree(standing), t("Remove")))) {
    return;
  }
  const { branch } = await session.request("ullage/session/removeWorktree", {});
  void tell(
    branch == null ? t("The worktree is removed.") : t("The worktree is removed. The branch {branch} stays, with its commits.", { branch }),
  );
}
