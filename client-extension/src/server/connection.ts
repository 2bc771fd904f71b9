/**
 * The connection to the server process: one language client at a time, started, restarted and stopped one after the other.
 *
 * `command.ts` says which process it is, `protocol.ts` what is said over the connection. `languageClient.ts` sets up the client. It is loaded when
 * the process has been started, since that takes longer than all else here. What the server warns of is at the end of this file.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { t } from "../l10n";
import type { Remembered, Secrets } from "./languageClient";
import { EnvironmentError } from "./environmentTrouble";
import { tellError, warn } from "../notify";
import type { SessionNews } from "../../webview/messages";
import { type ClientMethod, type ParamsOf, PROTOCOL_VERSION, type ResultOf, type UpdateParams } from "../protocol";
import { answered, type ServerStatus } from "./answers";
import type { ServerCommand } from "./command";
import { RestartPolicy, type ServerProcess, startProcess } from "./process";
import { inLanguage, withTexts } from "./serverTexts";
import { ServerWarnings } from "./serverWarnings";

/** Milliseconds that a server may take from its start to its first answer. */
const START_LIMIT = 60_000;

export interface ServerLaunch {
  /** Says what it is doing where it takes long. Stops and rejects when the signal is aborted. */
  resolve: (signal: AbortSignal, report: (message: string) => void) => Promise<ServerCommand>;
  /** The server that `resolve` named has answered. */
  started: (command: ServerCommand) => void;
  environment: () => Promise<Record<string, string>>;
  /** A folder whose content nobody else chooses, to start the process in. */
  workingFolder: string;
  /** Where the user's own state goes. */
  remembered: Remembered;
  /** What the server has kept here. */
  secrets: Secrets;
}

export class ServerConnection implements vscode.Disposable {
  private readonly statusChanged = new vscode.EventEmitter<ServerStatus>();
  private readonly updated = new vscode.EventEmitter<UpdateParams>();
  readonly onDidChangeStatus = this.statusChanged.event;
  /** An `ullage/session/update`, of any session. */
  readonly onUpdate = this.updated.event;
  private readonly newsEmitter = new vscode.EventEmitter<SessionNews>();
  /** Of all sessions, for the list of them. */
  readonly onNews = this.newsEmitter.event;
  private readonly mcpChanged = new vscode.EventEmitter<void>();
  /** Something about MCP servers is new to show. */
  readonly onMcpChanged = this.mcpChanged.event;
  readonly warnings = new ServerWarnings();

  private client: LanguageClient | undefined;
  /** The library ends only processes that it has started. */
  private process: ServerProcess | undefined;
  private queue: Promise<void> = Promise.resolve();
  /** Aborted when another start, or a stop, takes the place of the one that is under way. */
  private superseded = new AbortController();
  private readonly restarts = new RestartPolicy();
  private currentStatus: ServerStatus = { state: "starting" };
  /** A notification that the server has stopped waits for an answer. */
  private offering = false;

  constructor(
    private readonly launch: ServerLaunch,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  get status(): ServerStatus {
    return this.currentStatus;
  }

  /** Aborted when another start, or a stop, was asked for since. */
  get lastAsked(): AbortSignal {
    return this.superseded.signal;
  }

  /** Starts the server. Failure ends in the status `stopped` with a message, and never rejects. */
  start(): Promise<void> {
    const signal = this.supersede();
    return this.enqueue(() => this.startNow({ state: "starting" }, signal));
  }

  /** Starts the server again, because the user or a changed setting asks for it. */
  restart(): Promise<void> {
    this.restarts.reset();
    if (this.offering) {
      // VS Code has no way to close one notification: all that are up go into its list.
      void vscode.commands.executeCommand("notifications.hideToasts");
    }
    const signal = this.supersede();
    return this.enqueue(async () => {
      await this.stopNow();
      await this.startNow({ state: "restarting" }, signal);
    });
  }

  /** Stops the server, does what must not be done while one runs, and starts it again. */
  restartAfter(task: () => Promise<void>): Promise<void> {
    this.supersede();
    void this.enqueue(async () => {
      await this.stopNow();
      await task();
    });
    return this.restart();
  }

  /** Stops the server for good. */
  stop(): Promise<void> {
    this.supersede();
    return this.enqueue(() => this.stopNow());
  }

  /** Ends a server that runs but is of no use, and says why. @param task what is done when it has ended */
  fail(message: string, task?: () => Promise<void>): Promise<void> {
    this.supersede();
    return this.enqueue(async () => {
      await this.stopNow();
      await task?.();
      this.stopped(message);
    });
  }

  /** @throws Error with a message for the user where the server is not running or refuses; ServerGone where it ended meanwhile. */
  async request<M extends ClientMethod>(method: M, params: ParamsOf<M>, stop?: vscode.CancellationToken): Promise<ResultOf<M>> {
    if (this.client === undefined) {
      throw new Error(t("The Ullage server is not running"));
    }
    const asked = this.client;
    try {
      // A third argument that is undefined would be sent, too.
      const answer =
        stop === undefined ? asked.sendRequest<ResultOf<M>>(method, params) : asked.sendRequest<ResultOf<M>>(method, params, stop);
      return withTexts(await answered(answer, () => this.client === asked));
    } catch (error) {
      if (error instanceof Error) {
        error.message = inLanguage(error.message);
      }
      throw error;
    }
  }

  /** Tells the server to ask for the settings again. */
  async settingsChanged(): Promise<void> {
    this.warnings.settingsChanged();
    await this.client?.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  dispose(): void {
    this.statusChanged.dispose();
    this.updated.dispose();
    this.mcpChanged.dispose();
    this.warnings.dispose();
  }

  /** Settings may arrive while a start is making an environment that they make needless: what is under way is given up at once. */
  private supersede(): AbortSignal {
    this.superseded.abort();
    this.superseded = new AbortController();
    return this.superseded.signal;
  }

  private enqueue(task: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(task).catch((error) => this.log.error(String(error)));
    return this.queue;
  }

  private async startNow(status: ServerStatus, signal: AbortSignal): Promise<void> {
    if (signal.aborted) {
      return;
    }
    this.setStatus(status);
    this.warnings.clear();
    try {
      const resolving = this.launch.resolve(signal, (message) => signal.aborted || this.setStatus({ ...status, message }));
      const [command, env] = await Promise.all([resolving, this.launch.environment()]);
      this.client = await this.connect(command, env, signal);
      this.launch.started(command);
      this.setStatus({ state: "running" });
    } catch (error) {
      if (signal.aborted) {
        this.log.info("Server: this start was given up for another");
        return;
      }
      this.log.error(`Server: start failed: ${String(error)}`);
      this.stopped(
        error instanceof EnvironmentError
          ? error.message
          : t("The Ullage server could not be started: {error}. The log says more.", { error: messageOf(error) }),
      );
    }
  }

  /** A client whose server has answered `initialize`. One that does not in time, or is no longer wanted, is ended. */
  private async connect(command: ServerCommand, env: Record<string, string>, signal: AbortSignal): Promise<LanguageClient> {
    signal.throwIfAborted();
    const server = startProcess(command, { env, cwd: this.launch.workingFolder });
    this.process = server;
    const given = Promise.withResolvers<never>();
    given.promise.catch(() => undefined); // given up before anybody waits
    const giveUp = (why: string) => given.reject(new Error(why));
    const timer = setTimeout(() => giveUp(t("it did not answer within {seconds} seconds", { seconds: START_LIMIT / 1000 })), START_LIMIT);
    signal.addEventListener("abort", () => giveUp(t("it is no longer wanted")));
    try {
      const { createLanguageClient } = await import("./languageClient");
      const listener = {
        updated: (params: UpdateParams) => this.updated.fire(withTexts(params)),
        news: (news: SessionNews) => this.newsEmitter.fire(news),
        warned: (message: string) => this.warnings.add(message),
        told: (message: string) => this.warnings.over(message),
        mcpChanged: () => this.mcpChanged.fire(),
        closed: () => {
          giveUp(t("it ended while it was starting"));
          this.endedUnexpectedly(client);
        },
      };
      const client: LanguageClient = createLanguageClient(
        () => server.started,
        this.launch.remembered,
        this.log,
        listener,
        this.launch.secrets,
      );
      await Promise.race([client.start(), given.promise]);
      this.checkVersion(client);
      return client;
    } catch (error) {
      server.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async stopNow(): Promise<void> {
    const { client, process } = this;
    this.client = undefined;
    await client?.dispose().catch((error) => this.log.warn(`Server: ${String(error)}`));
    process?.endSoon();
  }

  private endedUnexpectedly(client: LanguageClient): void {
    if (this.client !== client) {
      return;
    }
    this.client = undefined;
    if (!this.restarts.allowsRestart(Date.now())) {
      this.stopped(t("The Ullage server keeps ending. What was said is kept."));
      return;
    }
    this.log.warn("Server: ended unexpectedly, starting it again");
    const message = t("The Ullage server ended unexpectedly and is started again. What was said is kept.");
    void warn(message);
    const signal = this.supersede();
    void this.enqueue(() => this.startNow({ state: "restarting", message }, signal));
  }

  /** The panel says it with the same buttons: a notification beside it would stay when these are used. */
  private stopped(message: string): void {
    this.setStatus({ state: "stopped", message });
    if (!this.warnings.isPanelVisible()) {
      void this.offerRestart(message);
    }
  }

  private async offerRestart(message: string): Promise<void> {
    this.offering = true;
    const [restart, showLogs] = [t("Restart"), t("Show logs")];
    const choice = await tellError(message, restart, showLogs);
    this.offering = false;
    if (choice === restart) {
      await this.restart();
    } else if (choice === showLogs) {
      this.log.show();
    }
  }

  private setStatus(status: ServerStatus): void {
    this.currentStatus = status;
    this.statusChanged.fire(status);
  }

  private checkVersion(client: LanguageClient): void {
    const experimental = client.initializeResult?.capabilities.experimental as { ullage?: { protocolVersion?: number } } | undefined;
    const version = experimental?.ullage?.protocolVersion;
    if (version !== PROTOCOL_VERSION) {
      this.log.warn(`Server: speaks protocol version ${String(version)}, the extension ${PROTOCOL_VERSION}`);
    }
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
