/** Comments on lines of a file with open changes: each goes to the agent as the next prompt, with the file and the lines. */

import * as vscode from "vscode";
import { t } from "../l10n";
import type { ActiveSession } from "../session/activeSession";
import type { OpenReview } from "./openReview";
import { commentPrompt } from "./reviewText";

export class ReviewComments implements vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController("ullage.review", "Ullage");
  private readonly threads: vscode.CommentThread[] = [];
  private readonly registered: vscode.Disposable;
  /** The files whose lines VS Code knows can be commented. */
  private offered: string | undefined;

  constructor(
    private readonly session: ActiveSession,
    private readonly review: OpenReview,
  ) {
    this.controller.options = { prompt: t("Comment for the agent"), placeHolder: t("What should be different here?") };
    this.offer();
    this.registered = vscode.Disposable.from(
      this.controller,
      session.onDidReplace(() => this.clear()),
      review.onDidChange(() => this.offer()),
    );
  }

  dispose(): void {
    this.registered.dispose();
  }

  /** Sends what was written. @throws Error with a message for the user. */
  async send({ thread, text }: vscode.CommentReply): Promise<void> {
    if (text.trim() === "" || thread.range === undefined) {
      return;
    }
    const document = await vscode.workspace.openTextDocument(thread.uri);
    const { start, end } = thread.range;
    const code = document.getText(new vscode.Range(start.line, 0, end.line, Number.MAX_SAFE_INTEGER));
    const path = this.review.fileAt(thread.uri)?.path ?? vscode.workspace.asRelativePath(thread.uri, false);
    const prompt = commentPrompt(path, start.line + 1, end.line + 1, code, text);
    await this.session.request("ullage/session/prompt", { text: prompt, attachments: [], delivery: "queue" });
    thread.comments = [
      ...thread.comments,
      { author: { name: "You" }, body: new vscode.MarkdownString().appendText(text), mode: vscode.CommentMode.Preview },
    ];
    thread.label = t("Sent to the agent");
    thread.canReply = false;
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Collapsed;
    this.threads.push(thread);
  }

  /** Lets lines of the files with open changes be commented. An editor that is open asks again only where a provider is set. */
  private offer(): void {
    const files = this.review.current.files.map(({ path }) => path).join("\n");
    if (files === this.offered) {
      return;
    }
    this.offered = files;
    this.controller.commentingRangeProvider = {
      provideCommentingRanges: (document) =>
        this.review.fileAt(document.uri) === undefined ? [] : [new vscode.Range(0, 0, Math.max(0, document.lineCount - 1), 0)],
    };
  }

  private clear(): void {
    for (const thread of this.threads.splice(0)) {
      thread.dispose();
    }
  }
}
