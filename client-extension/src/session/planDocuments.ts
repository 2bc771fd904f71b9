/**
 * The document of a plan that waits for its answer: it opens beside the panel, can be edited and commented line by line. The comments go to the
 * agent with the words of whoever sends the plan back.
 */

import * as vscode from "vscode";
import { isReallyInside } from "../files/places";
import { t } from "../l10n";
import type { ParamsOf, ToolCallItem } from "../protocol";
import { withComments } from "./planComments";
import type { ActiveSession } from "./activeSession";

type PlanAnswer = ParamsOf<"ullage/permission/respond">;

/** Opens each plan once, and keeps the comments on it until it is answered. */
export class PlanDocuments implements vscode.Disposable {
  private readonly comments = vscode.comments.createCommentController("ullage.plan", t("Ullage plan"));
  private readonly threads = new Map<string, vscode.CommentThread[]>();
  /** The documents by the calls that wait for an answer. */
  private readonly open = new Map<string, vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly session: ActiveSession) {
    this.comments.options = { prompt: t("Comment for the agent"), placeHolder: t("What should be different here?") };
    this.comments.commentingRangeProvider = {
      provideCommentingRanges: (document) =>
        this.callOf(document.uri) === undefined ? [] : [new vscode.Range(0, 0, Math.max(0, document.lineCount - 1), 0)],
    };
    this.subscriptions = [
      this.comments,
      session.onDidChange(() => void this.follow()),
      vscode.commands.registerCommand("ullage.addPlanComment", (reply: vscode.CommentReply) => this.add(reply)),
      vscode.commands.registerCommand("ullage.deletePlanComment", (thread: vscode.CommentThread) => this.remove(thread)),
    ];
  }

  /** The answer to a question, with the comments on its plan where that is sent back. The comments are gone then. */
  answered(answer: PlanAnswer): PlanAnswer {
    const uri = this.open.get(answer.toolCallId);
    if (uri === undefined) {
      return answer;
    }
    const threads = this.threads.get(answer.toolCallId) ?? [];
    const lines =
      vscode.workspace.textDocuments
        .find((document) => document.uri.toString() === uri.toString())
        ?.getText()
        .split(/\r?\n/) ?? [];
    const said = threads.map((thread) => {
      const line = (thread.range?.end.line ?? 0) + 1;
      return {
        line,
        quote: lines[line - 1] ?? "",
        words: thread.comments.map(({ body }) => (typeof body === "string" ? body : body.value)),
      };
    });
    return answer.optionId === "reject_once" ? { ...answer, reason: withComments(answer.reason ?? "", said) } : answer;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** Opens what has come to wait, and lets go of what no longer does. */
  private async follow(): Promise<void> {
    const waiting = this.session.current?.approvals ?? [];
    for (const id of this.open.keys()) {
      if (!waiting.some((item) => item.id === id)) {
        this.letGo(id);
      }
    }
    for (const item of waiting) {
      await this.show(item);
    }
  }

  private async show({ id, document }: ToolCallItem): Promise<void> {
    const folder = this.session.storeFolder;
    if (document == null || folder === undefined || this.open.has(id)) {
      return;
    }
    const uri = vscode.Uri.file(document);
    this.open.set(id, uri);
    if (!document.endsWith(".md") || !(await isReallyInside(document, [{ top: folder, within: [folder] }]))) {
      return; // only what the server itself keeps is opened by itself
    }
    await vscode.window.showTextDocument(uri, { preview: false, preserveFocus: true });
  }

  private letGo(id: string): void {
    this.open.delete(id);
    for (const thread of this.threads.get(id) ?? []) {
      thread.dispose();
    }
    this.threads.delete(id);
  }

  private add({ thread, text }: vscode.CommentReply): void {
    const id = this.callOf(thread.uri);
    if (id === undefined || text.trim() === "") {
      return;
    }
    thread.comments = [...thread.comments, { author: { name: "You" }, body: text.trim(), mode: vscode.CommentMode.Preview }];
    thread.contextValue = "ullage.plan";
    thread.label = t("Goes to the agent with “Keep planning”");
    const known = this.threads.get(id) ?? [];
    this.threads.set(id, known.includes(thread) ? known : [...known, thread]);
  }

  private remove(thread: vscode.CommentThread): void {
    for (const [id, threads] of this.threads) {
      this.threads.set(
        id,
        threads.filter((known) => known !== thread),
      );
    }
    thread.dispose();
  }

  private callOf(uri: vscode.Uri): string | undefined {
    return [...this.open].find(([, known]) => known.toString() === uri.toString())?.[0];
  }
}
