/** Commands in the background from VS Code's side: a list of them, their output as documents, their ports in the browser, and that one failed. */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { t } from "../l10n";
import { confirm, tell, warn } from "../notify";
import type { RunningCommand } from "../protocol";
import type { ServerConnection } from "../server/connection";
import { labelText, visibleText } from "../visible";
import type { ActiveSession } from "./activeSession";
import { wantedSigns } from "./attentionSigns";
import { Ending } from "./ending";
import {
  countThatEnd,
  endInWords,
  endsWith,
  Failures,
  failureInWords,
  fileNameOfCommand,
  lineOf,
  stillRunning,
  timeOf,
} from "./runningText";

const SCHEME = "ullage-command";

/** Milliseconds after which the output that somebody looks at is read again. */
const AGAIN = 1_000;

/** What is asked before commands are ended, and the button that agrees. */
interface StopQuestion {
  title: string;
  yes: string;
}

const RESTART: StopQuestion = { title: t("Restart the server?"), yes: t("Restart") };

interface RunningChoice extends vscode.QuickPickItem {
  run: () => Promise<unknown>;
}

export class BackgroundCommands implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly failures = new Failures();
  private readonly subscriptions: vscode.Disposable[];
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly connection: ServerConnection,
    private readonly session: ActiveSession,
    private readonly chat: ChatView,
  ) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      session.onDidReplace(({ sessionId, running }) => this.failures.know(sessionId, running ?? [])),
      connection.onUpdate(({ sessionId, update }) => {
        if (update.kind === "running") {
          this.failures.news(sessionId, update.commands).forEach((each) => void this.tellOf(sessionId, each));
        }
      }),
    ];
    this.timer = setInterval(() => this.lookAgain(), AGAIN);
  }

  dispose(): void {
    clearInterval(this.timer);
    vscode.Disposable.from(...this.subscriptions, this.changed).dispose();
  }

  /** Lets the user choose a command of the session, and what to do with it. */
  async show(): Promise<void> {
    const commands = this.session.current?.running ?? [];
    if (commands.length === 0) {
      void tell(t("Nothing runs in the background of this session."));
      return;
    }
    const rows = commands.map((command): RunningChoice => ({ ...this.described(command), run: () => this.showOne(command) }));
    const title = t("Commands in the background");
    const chosen = rows.length === 1 ? rows[0] : await vscode.window.showQuickPick<RunningChoice>(rows, { title, matchOnDetail: true });
    await chosen?.run();
  }

  private described(command: RunningCommand): vscode.QuickPickItem {
    const ended = endInWords(command);
    const time = timeOf(command, Date.now() / 1000);
    return {
      label: `$(${command.failed === true ? "error" : ended === "" ? "terminal" : "pass"}) ${labelText(lineOf(command))}`,
      description: ended === "" ? time : t("{ended} after {time}", { ended, time }),
      detail: labelText(command.lastLine ?? t("It has said nothing yet")),
    };
  }

  private async showOne(command: RunningCommand): Promise<void> {
    const { id, end, ports } = command;
    const choices: RunningChoice[] = [
      { label: `$(output) ${t("Open its output")}`, run: () => this.openOutput(id) },
      ...(ports ?? []).map((port) => ({
        label: `$(link-external) ${t("Open localhost:{port} in the browser", { port })}`,
        detail: t("As long as the command runs, every program of this machine can then connect to it"),
        run: async () => this.openPort(`${id} ${port}`),
      })),
      ...(end == null
        ? [
            {
              label: `$(debug-stop) ${t("Stop it, with everything that it started")}`,
              run: async () => this.session.request("ullage/session/stopCommand", { commandId: id }),
            },
          ]
        : []),
    ];
    const chosen = await vscode.window.showQuickPick<RunningChoice>(choices, { title: labelText(lineOf(command)) });
    await chosen?.run();
  }

  /** As a document that follows it while somebody looks. @throws Error where the command is gone. */
  async openOutput(id: unknown): Promise<void> {
    const { current } = this.session;
    if (typeof id !== "string" || current === undefined) {
      return this.show();
    }
    await this.session.request("ullage/session/commandOutput", { commandId: id }); // refuses before an empty document opens
    const command = current.running.find((each) => each.id === id);
    const name = fileNameOfCommand(id, command);
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: JSON.stringify([current.sessionId, id]) });
    const document = await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(uri), "log");
    const editor = await vscode.window.showTextDocument(document, { preview: true });
    goToEnd(editor);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [sessionId, commandId] = JSON.parse(uri.query) as [string, string];
    try {
      const { text } = await this.connection.request("ullage/session/commandOutput", { sessionId, commandId });
      return text === "" ? t("It has said nothing yet") : visibleText(text);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Lets the browser in, and opens it there. `which` is the command's id and its port. @throws Error where the server refuses. */
  async openPort(which: unknown): Promise<void> {
    const [commandId, wanted] = typeof which === "string" ? which.split(" ") : [];
    if (commandId === undefined || wanted === undefined) {
      return this.show();
    }
    const { port } = await this.session.request("ullage/session/openPort", { commandId, port: Number(wanted) });
    await vscode.env.openExternal(vscode.Uri.parse(`http://localhost:${port}/`));
  }

  /** Whether the server may be ended: asks where commands of any session end with it. */
  mayEnd(): Promise<boolean> {
    return this.ending.mayEnd(() => this.ask(RESTART));
  }

  /** Does what ends the server, where the user agrees. @throws Declined with that message */
  agreedTo(
    task: () => Promise<void>,
    declined = t("Nothing was changed. The commands in the background go on."),
    question = RESTART,
  ): Promise<void> {
    return this.ending.agreedTo(() => this.ask(question), task, declined);
  }

  private readonly ending = new Ending();

  private async ask({ title, yes }: StopQuestion): Promise<boolean> {
    const count = await countThatEnd(
      this.connection.status.state,
      () => this.connection.request("ullage/session/list", {}),
      stillRunning(this.session.current?.running).length,
    );
    return count === 0 || confirm(title, endsWith(count), yes);
  }

  /** The end stays in sight of who looks at the end. */
  private lookAgain(): void {
    for (const editor of vscode.window.visibleTextEditors.filter(({ document }) => document.uri.scheme === SCHEME)) {
      const { uri, lineCount } = editor.document;
      const runs = stillRunning(this.session.current?.running).some(
        ({ id }) => uri.query === JSON.stringify([this.session.current?.sessionId, id]),
      );
      const isAtEnd = editor.visibleRanges.some(({ end }) => end.line >= lineCount - 1);
      if (isAtEnd && editor.selection.isEmpty && editor.selection.active.line < lineCount - 1) {
        goToEnd(editor);
      }
      if (runs || !this.read.has(uri.query)) {
        this.changed.fire(uri);
      }
      if (runs) {
        this.read.delete(uri.query);
      } else {
        this.read.add(uri.query);
      }
    }
  }

  /** Outputs that were read after their command had ended. */
  private readonly read = new Set<string>();

  private async tellOf(sessionId: string, command: RunningCommand): Promise<void> {
    const isShown = this.session.current?.sessionId === sessionId;
    if ((isShown && this.chat.isLookedAt) || !wantedSigns().done) {
      return;
    }
    const output = t("Show output");
    if ((await warn(failureInWords(command), output)) === output) {
      if (this.session.current?.sessionId !== sessionId) {
        await this.session.open(sessionId);
      }
      await this.openOutput(command.id).catch((error: Error) => warn(error.message));
    }
  }
}

function goToEnd(editor: vscode.TextEditor): void {
  const last = editor.document.lineAt(Math.max(0, editor.document.lineCount - 1)).range.end;
  editor.selection = new vscode.Selection(last, last);
  editor.revealRange(new vscode.Range(last, last));
}
