/** The review as a whole: its parts, and what each of its commands does. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { plural, t } from "../l10n";
import { confirm, tell } from "../notify";
import type { OpenTurn } from "../protocol";
import type { ActiveSession } from "../session/activeSession";
import { labelText } from "../visible";
import { ReviewComments } from "./comments";
import { Diffs } from "./diffs";
import { goBackTo } from "./goingBack";
import { Marks } from "./marks";
import { OpenReview } from "./openReview";
import { filesInWords } from "./reviewText";

type ReviewHandler = (...given: unknown[]) => Promise<unknown> | void;

export interface ReviewParts extends vscode.Disposable {
  /** By the ids of the manifest. */
  handlers: Record<string, ReviewHandler>;
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
  const handlers: Record<string, ReviewHandler> = {
    "ullage.reviewChanges": () => diffs.openAll(),
    "ullage.reviewTurn": (turnId) => (typeof turnId === "string" ? diffs.openTurn(turnId) : diffs.openAll()),
    "ullage.reviewFile": (given) => diffs.openFile(fileMeant(given)),
    "ullage.keepAllChanges": () => review.decide("keep", {}),
    "ullage.undoAllChanges": () => undoAll(review),
    "ullage.keepTurn": (turnId) => decideTurn(review, "keep", turnId),
    "ullage.undoTurn": (turnId) => decideTurn(review, "undo", turnId),
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

/** Of the turn that is named; else of the only one with open changes, or of one that the user picks. */
async function decideTurn(review: OpenReview, verb: "keep" | "undo", turnId: unknown): Promise<void> {
  const turns = review.current.turns ?? [];
  const turn = turns.find((each) => each.turnId === turnId) ?? (typeof turnId === "string" ? undefined : await pickTurn(turns, verb));
  if (turn === undefined) {
    return;
  }
  const question = plural(
    turn.files,
    t("Undo what “{title}” changed in {count} file?", { title: turn.title }),
    t("Undo what “{title}” changed in {count} files?", { title: turn.title }),
  );
  const detail = t("What you and later turns changed stays. New files of this turn are deleted.");
  if (verb === "keep" || turn.files === 1 || (await confirm(question, detail, t("Undo Turn")))) {
    await review.decide(verb, { turnId: turn.turnId });
  }
}

async function pickTurn(turns: readonly OpenTurn[], verb: "keep" | "undo"): Promise<OpenTurn | undefined> {
  const [only, ...others] = turns.toReversed();
  if (only === undefined) {
    void tell(t("The agent has changed nothing that is still open."));
    return undefined;
  }
  if (others.length === 0) {
    return only;
  }
  const items = [only, ...others].map((turn) => ({ label: labelText(turn.title), description: filesInWords(turn.files), turn }));
  const title = verb === "keep" ? t("Keep the changes of a turn") : t("Undo the changes of a turn");
  return (await vscode.window.showQuickPick(items, { title }))?.turn;
}
