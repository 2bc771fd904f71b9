/** The panel's host side: its page, and the bridge between it and the server. It passes messages on and does not interpret them. */

import * as vscode from "vscode";
import { randomBytes } from "node:crypto";
import {
  type Gathered,
  PANEL_COMMANDS,
  PASS_THROUGH,
  type PanelView,
  type PassThroughMethod,
  type SessionNews,
  type ToHost,
  type ToPanel,
} from "../webview/messages";
import { gitChanges } from "./editor/git";
import { terminalSelection, Terminals } from "./editor/terminals";
import { currentLanguage } from "./l10n";
import type { AttachmentRef, ParamsOf, SessionFigures } from "./protocol";
import { wantsAttention } from "./session/sessionRows";
import type { PlanDocuments } from "./session/planDocuments";
import type { ActiveSession } from "./session/activeSession";
import type { ServerConnection } from "./server/connection";
import { reasonOf } from "./server/answers";
import { applyCode, insertText, type ProposedChanges } from "./files/applyCode";
import { openFile, readImage, WorkspaceFiles } from "./files/workspaceFiles";

export class ChatView implements vscode.WebviewViewProvider {
  static readonly id = "ullage.chat";
  private view: vscode.WebviewView | undefined;
  private readonly files = new WorkspaceFiles();
  private readonly terminals = new Terminals();
  /** The page has loaded and listens. A hidden panel has no page, but where it keeps it. */
  private listening = false;
  private keepsPage = false;
  private focusWanted = false;
  /** It has got the session that it draws. */
  private drawn = false;
  /** What the panel is to show once it listens. */
  private viewWanted: PanelView | undefined;
  /** What the list says of the sessions of this window, as it was told last. */
  private readonly figures = new Map<string, SessionFigures>();
  private badge: vscode.ViewBadge | undefined;
  private readonly visibilityChanged = new vscode.EventEmitter<void>();
  /** The panel came into sight or went out of it, or its window got or lost the focus. */
  readonly onDidChangeVisibility = this.visibilityChanged.event;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly connection: ServerConnection,
    private readonly session: ActiveSession,
    private readonly proposed: ProposedChanges,
    private readonly plans: PlanDocuments,
    private readonly log: vscode.LogOutputChannel,
    subscriptions: vscode.Disposable[],
  ) {
    subscriptions.push(
      this.visibilityChanged,
      vscode.window.onDidChangeWindowState(() => this.visibilityChanged.fire()),
      this.terminals,
      connection.onDidChangeStatus((status) => this.post({ type: "server", status })),
      connection.warnings.onDidChange((warned) => this.post({ type: "warnings", ...warned })),
      session.onDidReplace((snapshot) => this.post({ type: "snapshot", snapshot })),
      session.onUpdate((params) => this.post({ type: "update", params })),
      connection.onNews((news) => this.takeNews(news)),
      session.onDidReplace(() => this.looks()),
    );
  }

  /** Offers the panel to VS Code. @param keepsPage its page goes on while it is hidden, which takes memory; else it is loaded again when shown */
  register(keepsPage: boolean): vscode.Disposable {
    this.keepsPage = keepsPage;
    return vscode.window.registerWebviewViewProvider(ChatView.id, this, { webviewOptions: { retainContextWhenHidden: keepsPage } });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.badge = this.badge;
    view.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.extensionUri, "dist")] };
    view.webview.onDidReceiveMessage((message: ToHost) => {
      this.take(message).catch((error) => this.log.error(`Panel: ${String(error)}`));
    });
    view.onDidChangeVisibility(() => {
      this.listening &&= view.visible || this.keepsPage;
      setFocused(false); // a page that is gone says nothing any more
      this.visibilityChanged.fire();
      this.looks();
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.listening = false;
      setFocused(false);
    });
    // Once only. Where a second page is set before the first has loaded whole, VS Code can go on showing the first and hold back every message:
    // the late `load` of the first ends the wait for that of the second.
    view.webview.html = pageOf(view.webview, this.extensionUri);
  }

  get isVisible(): boolean {
    return this.view?.visible === true;
  }

  /** The panel is in sight, in a window that has the focus. */
  get isLookedAt(): boolean {
    return this.isVisible && vscode.window.state.focused;
  }

  /** In the panel's page; a panel that has none now is silent. */
  playSound(what: "waits" | "done"): void {
    if (this.listening) {
      this.post({ type: "sound", what });
    }
  }

  /** A number at the panel's icon, which is seen while the panel is not. */
  setBadge(badge: vscode.ViewBadge | undefined): void {
    if (this.badge?.value === badge?.value && this.badge?.tooltip === badge?.tooltip) {
      return;
    }
    this.badge = badge;
    if (this.view !== undefined) {
      this.view.badge = badge;
    }
  }

  /** Answers the question that the panel shows. Where it is out of sight, it is shown instead: nobody allows what they do not see. */
  async answerApproval(allow: boolean): Promise<void> {
    if (this.listening && this.isVisible) {
      this.post({ type: "answerApproval", allow });
    } else {
      await this.showNextApproval();
    }
  }

  /** Shows the panel, and in it what waits for the user; asked again, the next one. */
  async showNextApproval(): Promise<void> {
    if (this.listening && this.isVisible) {
      await vscode.commands.executeCommand(`${ChatView.id}.focus`);
      this.post({ type: "nextApproval" });
      return;
    }
    const current = this.session.current;
    const first = current?.waiting[0];
    await (current === undefined || first === undefined
      ? this.focus()
      : this.show({ kind: "item", sessionId: current.sessionId, itemId: first.id }));
  }

  /** Shows the panel and puts the cursor into the prompt box. */
  async focus(): Promise<void> {
    await vscode.commands.executeCommand(`${ChatView.id}.focus`);
    this.focusWanted = true;
    this.passFocus();
  }

  /** Shows the panel, and in it the preview of a compaction, the timeline, or an item of the session. */
  async show(view: PanelView): Promise<void> {
    this.viewWanted = view;
    await vscode.commands.executeCommand(`${ChatView.id}.focus`);
    this.passView();
  }

  private passFocus(): void {
    if (this.listening && this.focusWanted) {
      this.focusWanted = false;
      this.post({ type: "focusPrompt" });
    }
  }

  private passView(): void {
    if (this.listening && this.drawn && this.viewWanted !== undefined) {
      this.post({ type: "show", view: this.viewWanted });
      this.viewWanted = undefined;
    }
  }

  private takeNews(news: SessionNews): void {
    if (news.type === "figures") {
      this.figures.set(news.sessionId, news.figures);
      if (news.sessionId === this.session.current?.sessionId) {
        this.looks();
      }
    }
    this.post(news);
  }

  /** What has ended in the session that the user has before them is not news any more. */
  private looks(): void {
    const { current } = this.session;
    const status = current && this.figures.get(current.sessionId)?.status;
    if (this.isVisible && current !== undefined && status !== undefined && wantsAttention(status) && status !== "waiting") {
      this.session.request("ullage/session/looked", {}).catch((error) => this.log.info(`Panel: ${String(error)}`));
    }
  }

  private async take(message: ToHost): Promise<void> {
    switch (message.type) {
      case "ready":
        this.listening = true;
        this.post({ type: "server", status: this.connection.status });
        this.post({ type: "warnings", ...this.connection.warnings.current });
        this.figures.forEach((figures, sessionId) => this.post({ type: "figures", sessionId, figures }));
        this.passFocus();
        this.drawn = false;
        try {
          await this.sendSnapshot();
        } finally {
          this.drawn = true;
          this.passView();
        }
        return;
      case "focused":
        return setFocused(message.focused);
      case "resync":
        return this.sendSnapshot();
      case "request":
        if (PASS_THROUGH.includes(message.method)) {
          return this.answer(message.id, this.session.pass(message.method, this.withPlanComments(message)));
        }
        return;
      case "findFiles":
        return this.answer(message.id, this.files.find(message.query, this.session.current?.worktree));
      case "gather":
        return this.answer(message.id, this.gather(message.what));
      case "readImage":
        return this.answer(message.id, readImage(message.path, this.session.storeFolder, this.session.current?.worktree));
      case "command":
        if (PANEL_COMMANDS.includes(message.command)) {
          await vscode.commands.executeCommand(message.command, ...(message.argument ? [message.argument] : []));
        }
        return;
      case "openLink":
        if (/^https?:\/\//i.test(message.href)) {
          await vscode.env.openExternal(vscode.Uri.parse(message.href, true));
        }
        return;
      case "openFile":
        return openFile(message.path, this.session.storeFolder, message.line, message.near, this.session.current?.worktree);
      case "insert":
        return insertText(message.text);
      case "apply":
        return applyCode(this.proposed, message.text, message.path);
      case "copy":
        await vscode.env.clipboard.writeText(message.text);
        return;
    }
  }

  /** An answer to a plan takes along what was said about its lines. */
  private withPlanComments({ method, params }: Extract<ToHost, { type: "request" }>): ParamsOf<PassThroughMethod> {
    return method === "ullage/permission/respond" ? this.plans.answered(params as ParamsOf<typeof method>) : params;
  }

  private async gather(what: Gathered): Promise<AttachmentRef> {
    switch (what) {
      case "terminal":
        return this.terminals.lastCommand();
      case "terminalSelection":
        return terminalSelection();
      case "changes":
      case "staged":
        return gitChanges(what);
    }
  }

  private async sendSnapshot(): Promise<void> {
    const snapshot = await this.session.snapshot();
    if (snapshot !== undefined) {
      this.post({ type: "snapshot", snapshot });
    }
  }

  private async answer(id: number, promise: Promise<unknown>): Promise<void> {
    try {
      this.post({ type: "response", id, result: await promise });
    } catch (error) {
      this.post({ type: "response", id, error: error instanceof Error ? error.message : String(error), reason: reasonOf(error) });
    }
  }

  /** A panel without its page gets nothing; it asks for a snapshot when it is shown again. */
  private post(message: ToPanel): void {
    void this.view?.webview.postMessage(message);
  }
}

/** VS Code knows which view has the focus, but not where that view is a webview and the focus lies in its page: the page itself tells. */
function setFocused(focused: boolean): void {
  void vscode.commands.executeCommand("setContext", "ullage.chatFocused", focused);
}

/** JSON that ends no script element, whatever stands in it. */
function inScript(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function pageOf(webview: vscode.Webview, extensionUri: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64");
  const uri = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, "dist", name)).toString();
  // oxlint-disable ullage/untranslated -- the page and its policy are for the browser
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    "img-src blob:", // images that the host has read, see `readImage`
    `script-src 'nonce-${nonce}'`,
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="${currentLanguage()}">
  <head>
    <meta charset="UTF-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1.0">
    <link rel="stylesheet" href="${uri("webview-style.css")}">
    <title>Ullage</title>
  </head>
  <body${vscode.env.remoteName === undefined ? "" : " data-remote"}>
    <script type="application/json" id="l10n">${inScript(vscode.l10n.bundle ?? {})}</script>
    <script nonce="${nonce}" src="${uri("webview.js")}"></script>
  </body>
</html>`;
}
