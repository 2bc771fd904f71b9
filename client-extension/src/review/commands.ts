/** The review as a whole: its parts, and what each of its commands does. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { plural, t } from "../l10n";
import { confirm } from "../notify";
import type { ActiveSession } from "../session/activeSession";
import { ReviewComments } from "./comments";
import { Diffs } from "./diffs";
import { goBackTo } from "./goingBack";
import { Marks } from "./marks";
import { OpenReview } from "./openReview";

type Handler = (...given: unknown[]) => Promise<unknown> | void;

export interface ReviewParts extends vscode.Disposable {
  /** By the ids of the manifest. */
  handlers: Record<string, Handler>;
}

/** Follows the session from now on. */
export function startReview(session: ActiveSession, chat: ChatView): ReviewParts {
  const review = new OpenReview(session);
  const diffs = new Diffs(session, review);
  const marks = new Marks(review);
  const comments = new ReviewComments(session, review);
  const fileMeant = (given: unknown): string => {
    const active = vscode.window.activeTextEditor?.document.uri;
    const file = typeof given === "string" ? { path: given } : review.fileAt(given instanceof vscode.Uri ? given : active);
    if (file === undefined) {
      throw new Error(t("This file has no open changes of the agent"));
    }
    return file.path;
  };
  const handlers: Record<string, Handler> = {
    "ullage.reviewChanges": () => diffs.openAll(),
    "ullage.reviewTurn": (turnId) => (typeof turnId === "string" ? diffs.openTurn(turnId) : diffs.openAll()),
    "ullage.reviewFile": (given) => diffs.openFile(fileMeant(given)),
    "ullage.keepAllChanges": () => review.decide("keep", {}),
    "ullage.undoAllChanges": () => undoAll(review),
    "ullage.keepFile": (given) => review.decide("keep", { path: fileMeant(given) }),
    "ullage.undoFile": (given) => review.decide("undo", { path: fileMeant(given) }),
    "ullage.keepChange": (uri, hunkId) => review.decide("keep", marks.meant(uri, hunkId)),
    "ullage.undoChange": (uri, hunkId) => review.decide("undo", marks.meant(uri, hunkId)),
    "ullage.nextChange": () => marks.go("next"),
    "ullage.previousChange": () => marks.go("previous"),
    "ullage.goBack": (turnId) => goBackTo(session, chat, turnId),
    "ullage.sendComment": (reply) => comments.send(reply as vscode.CommentReply),
  };
  return { handlers, dispose: () => vscode.Disposable.from(comments, marks, diffs, review).dispose() };
}

/** More than a click should be asked for before many files change at once. */
async function undoAll(review: OpenReview): Promise<void> {
  const { count } = review.current;
  const question = plural(count, t("Undo the agent's changes in {count} file?"), t("Undo the agent's changes in {count} files?"));
  const detail = t("What you changed yourself stays. New files of the agent are deleted.");
  if (count > 0 && (await confirm(question, detail, t("Undo All")))) {
    await review.decide("undo", {});
  }
}
