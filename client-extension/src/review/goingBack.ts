/**
 * Going back to before a prompt, and forward again: what would happen to each file is listed before anything happens. And writing an earlier prompt
 * in another way: in a fork from before it, with the files as they are or as they were then.
 */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { dateLanguage, plural, t } from "../l10n";
import { tell, warn } from "../notify";
import type { Checkpoint, FileBack } from "../protocol";
import type { ActiveSession } from "../session/activeSession";
import { forkSession } from "../session/pickers";
import { whatWasBrought, type WorktreeChoice } from "../session/worktrees";
import { labelText } from "../visible";
import { placeOf } from "./openReview";
import { ACTIONS, changedInWords, checkpointInWords, filesInWords, firstSentence, leftInWords } from "./reviewText";

type What = "files" | "conversation" | "both";

interface CheckpointItem extends WorktreeChoice {
  checkpoint?: Checkpoint;
}

interface WhatItem extends vscode.QuickPickItem {
  what?: What;
  file?: FileBack;
}

const FORWARD = t("Go Forward Again");

/** Asks what shall go back to a checkpoint, with all that would happen in sight, and does it. @throws Error with a message for the user. */
export async function goBack(session: ActiveSession, chat: ChatView, checkpoint: Checkpoint): Promise<void> {
  const { files, uncovered } = await session.request("ullage/session/previewRestore", { turnId: checkpoint.turnId });
  const choices: WhatItem[] =
    checkpoint.forward === true
      ? [{ label: `$(redo) ${t("Files")}`, description: filesInWords(files.length), what: "files" }]
      : [
          { label: `$(history) ${t("Files and conversation")}`, description: t("in a fork; this session stays as it is"), what: "both" },
          { label: `$(files) ${t("Files")}`, description: t("the conversation goes on here"), what: "files" },
          { label: `$(comment-discussion) ${t("Conversation")}`, description: t("in a fork; no file changes"), what: "conversation" },
        ];
  const what = await askWhat(checkpointInWords(checkpoint), choices, files, uncovered);
  if (what === undefined) {
    return;
  }
  const overwrite = what === "conversation" ? [] : await askOverwrite(files);
  if (overwrite === undefined) {
    return;
  }
  const { files: done, prompt } = await session.goBack(checkpoint.turnId, what, overwrite);
  if (prompt !== undefined) {
    await chat.show({ kind: "prompt", prompt });
  }
  const left = leftInWords(done);
  if (left !== undefined) {
    void warn(left);
  }
  const written = done.filter(({ outcome }) => outcome === "done").length;
  if (
    written > 0 &&
    prompt === undefined &&
    (await tell(plural(written, t("{count} file as before."), t("{count} files as before.")), FORWARD)) === FORWARD
  ) {
    const { checkpoints } = await session.request("ullage/session/checkpoints", {});
    const forward = checkpoints.findLast((each) => each.forward === true);
    await (forward && goBack(session, chat, forward));
  }
}

/**
 * Puts an earlier prompt into the box, in a fork from before it. Where files were changed since, the user says whether they go back, too.
 *
 * @param argument as the panel writes it into the one argument that a command takes: the prompt's id, and the id of the first turn from it on that
 *   changed files, where one did
 */
export async function editPrompt(session: ActiveSession, chat: ChatView, argument: unknown): Promise<void> {
  const [itemId = "", turnId = ""] = typeof argument === "string" ? argument.split(" ") : [];
  if (itemId === "") {
    throw new Error(t("Choose “Edit and send again” at a prompt"));
  }
  if (turnId === "" || (await filesAreDecided(session, turnId))) {
    await forkSession(session, chat, undefined, itemId);
  }
}

/** Asks whether the files go back to before that turn, and lets them; false if the user thought better of it. */
async function filesAreDecided(session: ActiveSession, turnId: string): Promise<boolean> {
  const { files, uncovered } = await session.request("ullage/session/previewRestore", { turnId });
  const choices: WhatItem[] = [
    {
      label: `$(edit) ${t("Edit the prompt; files stay as they are now")}`,
      description: t("in a fork; this session stays as it is"),
      what: "conversation",
    },
    {
      label: `$(history) ${t("Edit the prompt; files go back to before it")}`,
      description: filesInWords(files.length),
      what: "both",
    },
  ];
  const what = files.length === 0 ? "conversation" : await askWhat(t("Edit and send again"), choices, files, uncovered);
  const overwrite = what === "both" ? await askOverwrite(files) : [];
  if (what === undefined || overwrite === undefined) {
    return false;
  }
  if (what === "both") {
    const { files: done } = await session.goBack(turnId, "files", overwrite);
    const left = leftInWords(done);
    if (left !== undefined) {
      void warn(left);
    }
  }
  return true;
}

/** The same of the checkpoint before a prompt, or of one that the user picks from all of the session. */
export async function goBackTo(session: ActiveSession, chat: ChatView, turnId: unknown): Promise<void> {
  const [{ checkpoints }, brought] = await Promise.all([
    session.request("ullage/session/checkpoints", {}),
    typeof turnId === "string" ? [] : whatWasBrought(session),
  ]);
  if (checkpoints.length === 0 && brought.length === 0) {
    void tell(t("The agent has changed no files in this session, so there is nothing to go back to."));
    return;
  }
  const named = checkpoints.find((each) => each.turnId === turnId);
  const chosen = named ?? (typeof turnId === "string" ? undefined : await pickCheckpoint(checkpoints, brought));
  if (chosen !== undefined) {
    await goBack(session, chat, chosen);
  } else if (typeof turnId === "string") {
    void tell(t("This turn changed no files. To take up the conversation there, fork the session."));
  }
}

/** What was brought out of the session's worktree lies in another folder, so it is no checkpoint. It can be taken back from here, too. */
async function pickCheckpoint(checkpoints: readonly Checkpoint[], brought: readonly WorktreeChoice[]): Promise<Checkpoint | undefined> {
  const items = checkpoints.toReversed().map((checkpoint): CheckpointItem => ({
    label: `$(${checkpoint.forward === true ? "redo" : "history"}) ${labelText(checkpointInWords(checkpoint))}`,
    description: new Date(checkpoint.at * 1000).toLocaleString(dateLanguage()),
    detail: changedInWords({ count: checkpoint.files }),
    checkpoint,
  }));
  const options = {
    title: t("Go back to a checkpoint"),
    placeHolder: t("What would happen is shown before it happens"),
    matchOnDetail: true,
  };
  const chosen = await vscode.window.showQuickPick<CheckpointItem>([...items, ...brought], options);
  await chosen?.run?.();
  return chosen?.checkpoint;
}

/** A file that is picked is opened; the list stays until something is decided. */
async function askWhat(
  title: string,
  choices: readonly WhatItem[],
  files: readonly FileBack[],
  uncovered: readonly { path: string; why: string }[],
): Promise<What | undefined> {
  const rows: WhatItem[] = files.map((file) => ({
    label: `$(${file.conflict == null ? ACTIONS[file.action].icon : "warning"}) ${labelText(file.path)}`,
    description: labelText(file.conflict == null ? ACTIONS[file.action].word : firstSentence(file.conflict)),
    file,
  }));
  const missed: WhatItem[] = uncovered.map(({ path, why }) => ({
    label: `$(circle-slash) ${labelText(path)}`,
    description: labelText(why),
  }));
  const separated = (label: string, items: WhatItem[]): WhatItem[] =>
    items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
  const picker = vscode.window.createQuickPick<WhatItem>();
  picker.title = title;
  picker.placeholder = files.length === 0 ? t("All files are as they were then") : t("What should go back?");
  picker.ignoreFocusOut = true;
  picker.items = [
    ...choices,
    ...separated(plural(files.length, t("What happens to {count} file"), t("What happens to {count} files")), rows),
    ...separated(t("Not covered, so it stays as it is"), missed),
  ];
  const decided = Promise.withResolvers<What | undefined>();
  picker.onDidAccept(() => {
    const [item] = picker.selectedItems;
    if (item?.file !== undefined) {
      void vscode.window.showTextDocument(placeOf(item.file), { preview: true, preserveFocus: true }).then(undefined, () => undefined);
    } else if (item?.what !== undefined) {
      decided.resolve(item.what);
      picker.hide();
    }
  });
  picker.onDidHide(() => decided.resolve(undefined));
  picker.show();
  const what = await decided.promise;
  picker.dispose();
  return what;
}

/** Which files in conflict shall go back all the same: none, unless the user picks some. Undefined if they thought better of it. */
async function askOverwrite(files: readonly FileBack[]): Promise<string[] | undefined> {
  const conflicts = files.filter(({ conflict, stays }) => conflict != null && stays !== true);
  if (conflicts.length === 0) {
    return [];
  }
  const picked = await vscode.window.showQuickPick(
    conflicts.map(({ path, conflict }) => ({ label: labelText(path), description: labelText(firstSentence(conflict ?? "")), path })),
    {
      title: plural(conflicts.length, t("{count} file changed since"), t("{count} files changed since")),
      placeHolder: t("Pick those to overwrite; the others stay as they are"),
      canPickMany: true,
      ignoreFocusOut: true,
    },
  );
  return picked?.map(({ path }) => path);
}
