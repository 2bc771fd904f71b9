/**
 * The session that the gauge, the commands and the panel are about.
 *
 * Keeps only what the host itself shows (state, gauge, model, title); the conversation is the panel's, and the truth the server's.
 */

import * as vscode from "vscode";
import { setTimeout as delay } from "node:timers/promises";
import { t } from "../l10n";
import { isApproval, waitingAfter, waitingIn } from "./approvals";
import { Opening, reopen } from "./opening";
import type {
  ClientMethod,
  DecidedFile,
  ForkPrompt,
  Gauge,
  ModelInfo,
  SessionModes,
  ParamsOf,
  ResultOf,
  RunningCommand,
  SessionState,
  Snapshot,
  ToolCallItem,
  UpdateParams,
} from "../protocol";
import type { ServerConnection } from "../server/connection";

/** Where the editor keeps the id of the session that was open last in this workspace: outside of it, so no repository can bring one. */
export const REMEMBERED_SESSION = "ullage.activeSession";
const STORE_FOLDER = "ullage.storeFolder";
const REOPEN_PAUSE = 250;

interface SessionHead {
  sessionId: string;
  title: string;
  state: SessionState;
  gauge: Gauge;
  model: ModelInfo;
  /** The absolute path of the folder in which its agent works, if that is not the workspace folder. */
  worktree: string | undefined;
  /** Undefined if the session can only be read. */
  modes: SessionModes | undefined;
  /** Tool calls that wait for the user, for an approval or for an answer, oldest first. */
  waiting: readonly ToolCallItem[];
  /** Those of them that wait for an approval. */
  approvals: readonly ToolCallItem[];
  /** What runs in the background, and what has ended of which the model does not know yet. */
  running: readonly RunningCommand[];
}

type SessionMethod = { [M in ClientMethod]: ParamsOf<M> extends { sessionId: string } ? M : never }[ClientMethod];

export class ActiveSession implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly replaced = new vscode.EventEmitter<Snapshot>();
  private readonly updated = new vscode.EventEmitter<UpdateParams>();
  /** What `current` shows has changed. */
  readonly onDidChange = this.changed.event;
  /** Another session, or the same one anew. */
  readonly onDidReplace = this.replaced.event;
  /** An update of this session. */
  readonly onUpdate = this.updated.event;
  private readonly subscription: vscode.Disposable;
  /** A server that has just begun knows no session yet, while the panel still shows the one of before. */
  private readonly opening = new Opening();
  private head: SessionHead | undefined;

  constructor(
    private readonly connection: ServerConnection,
    private readonly memory: vscode.Memento,
  ) {
    this.subscription = connection.onUpdate((params) => this.take(params));
  }

  get current(): SessionHead | undefined {
    return this.head;
  }

  /** The folder in which the server keeps what belongs to sessions; until it says so, the one of the last time. */
  get storeFolder(): string | undefined {
    return this.memory.get<string>(STORE_FOLDER);
  }

  /**
   * Opens the session of the last time, else the most recent one, else a new one. Gives why it is not that of the last time. A session that the
   * user asks for meanwhile stays.
   */
  async reopen(): Promise<string | undefined> {
    const ask = (sessionId: string | undefined) => this.connection.request("ullage/session/open", { sessionId });
    const start = () => this.connection.request("ullage/session/new", {});
    const remembered = this.head?.sessionId ?? this.memory.get<string>(REMEMBERED_SESSION);
    const signal = this.opening.otherShown;
    const work = this.opening.during(reopen(ask, start, remembered, () => delay(REOPEN_PAUSE, undefined, { signal })));
    try {
      const isShown = await this.opening.inOrder(work, ({ snapshot }) => this.replace(snapshot));
      return isShown ? (await work).passedOver : undefined;
    } catch (error) {
      if (signal.aborted) {
        return undefined;
      }
      throw error;
    }
  }

  async open(sessionId: string | undefined): Promise<void> {
    await this.show(this.connection.request("ullage/session/open", { sessionId }));
  }

  /** @param worktree its agent works in a worktree that is made for it */
  async startNew(worktree = false): Promise<void> {
    await this.show(this.connection.request("ullage/session/new", worktree ? { worktree } : {}));
  }

  /** Opens what a session of another program has become here. @throws Error where the server refuses. */
  async goOnWithOther(otherId: string): Promise<void> {
    await this.show(this.connection.request("ullage/workspace/goOnWithOther", { otherId }));
  }

  /**
   * Opens a fork of a session (the current one where none is named), up to an item of it where one is. Gives the prompt that it was forked
   * before. @throws Error where none is open or the server refuses.
   */
  async fork(sessionId?: string, itemId?: string): Promise<ForkPrompt | undefined> {
    await this.opening.settled();
    const original = sessionId ?? this.head?.sessionId;
    if (original === undefined) {
      throw new Error(t("No session is open"));
    }
    const work = this.connection.request("ullage/session/fork", { sessionId: original, itemId });
    const isShown = await this.opening.inOrder(work, ({ snapshot }) => this.replace(snapshot));
    return isShown ? ((await work).prompt ?? undefined) : undefined;
  }

  /**
   * Goes back to before a turn. Where the conversation goes back, too, a fork is opened: gives the prompt that it was forked before.
   *
   * @throws Error where none is open or the server refuses.
   */
  async goBack(
    turnId: string,
    what: "files" | "conversation" | "both",
    overwrite: string[],
  ): Promise<{ files: DecidedFile[]; prompt: ForkPrompt | undefined }> {
    const { files, fork } = await this.request("ullage/session/restore", { turnId, what, overwrite });
    if (fork != null) {
      this.replace(fork.snapshot);
    }
    return { files, prompt: fork?.prompt ?? undefined };
  }

  /** Everything that the panel draws; undefined if no session is open. */
  async snapshot(): Promise<Snapshot | undefined> {
    await this.opening.settled();
    if (this.head === undefined) {
      return undefined;
    }
    return this.connection.request("ullage/session/snapshot", { sessionId: this.head.sessionId });
  }

  /** A request about this session; it waits while that is being opened. @throws Error where none is open or the server refuses. */
  async request<M extends SessionMethod>(
    method: M,
    params: Omit<ParamsOf<M>, "sessionId">,
    stop?: vscode.CancellationToken,
  ): Promise<ResultOf<M>> {
    await this.opening.settled();
    if (this.head === undefined) {
      throw new Error(t("No session is open"));
    }
    return this.connection.request(method, { ...params, sessionId: this.head.sessionId }, stop);
  }

  /** A request as the panel makes it, which names its session; it waits while that is being opened. */
  async pass<M extends ClientMethod>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>> {
    await this.opening.settled();
    return this.connection.request(method, params);
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
    this.replaced.dispose();
    this.updated.dispose();
  }

  private async show(work: Promise<Snapshot>): Promise<void> {
    await this.opening.inOrder(work, (snapshot) => this.replace(snapshot));
  }

  private replace(snapshot: Snapshot): void {
    const { sessionId, title, state, gauge, model } = snapshot;
    const modes = snapshot.modes ?? undefined;
    const worktree = snapshot.worktree?.path;
    const running = snapshot.running ?? [];
    this.head = { sessionId, title, state, gauge, model, worktree, modes, running, ...waitingParts(waitingIn(snapshot.items)) };
    void this.memory.update(REMEMBERED_SESSION, snapshot.agentOf ?? sessionId);
    void this.memory.update(STORE_FOLDER, snapshot.storeFolder ?? undefined);
    this.changed.fire();
    this.replaced.fire(snapshot);
  }

  private take(params: UpdateParams): void {
    if (this.head === undefined || params.sessionId !== this.head.sessionId) {
      return;
    }
    this.updated.fire(params);
    const head = withUpdate(this.head, params.update);
    if (head !== this.head) {
      this.head = head;
      this.changed.fire();
    }
  }
}

function withUpdate(head: SessionHead, update: UpdateParams["update"]): SessionHead {
  switch (update.kind) {
    case "state":
      return { ...head, state: update.state };
    case "gauge":
      return { ...head, gauge: update.gauge };
    case "title":
      return { ...head, title: update.title };
    case "model":
      return { ...head, model: update.model };
    case "mode":
      return { ...head, modes: head.modes && { ...head.modes, currentModeId: update.currentModeId } };
    case "running":
      return { ...head, running: update.commands };
    default: {
      const waiting = waitingAfter(head.waiting, update);
      return waiting === head.waiting ? head : { ...head, ...waitingParts(waiting) };
    }
  }
}

function waitingParts(waiting: readonly ToolCallItem[]): Pick<SessionHead, "waiting" | "approvals"> {
  return { waiting, approvals: waiting.filter(isApproval) };
}
