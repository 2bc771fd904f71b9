/** What the user can do from the panel, for the parts that draw it. Failures are shown above the prompt box. */

import { t } from "../src/l10n";
import type { AttachmentRef, GivenAnswer, ParamsOf, ResultOf } from "../src/protocol";
import { fitOffer } from "../src/server/answers";
import { Refused, type Host } from "./host";
import type { PassThroughMethod } from "./messages";

export interface Actions extends Pick<
  Host,
  "runCommand" | "openLink" | "openFile" | "copy" | "insert" | "apply" | "findFiles" | "gather" | "readImage"
> {
  /** A request about the session that is shown. True if the server took it; else its message is shown. */
  send<M extends PassThroughMethod>(method: M, params: Omit<ParamsOf<M>, "sessionId">): Promise<boolean>;
  /** The same for a caller that needs the answer and shows failures itself. @throws Error with a message for the user. */
  ask<M extends PassThroughMethod>(method: M, params: Omit<ParamsOf<M>, "sessionId">): Promise<ResultOf<M>>;
  /** Sends a prompt. True if the server took it. */
  prompt(text: string, attachments: readonly AttachmentRef[], delivery: "queue" | "steer"): Promise<boolean>;
  /** Takes a queued prompt back and lets it join the running turn. */
  steer(promptId: string, text: string): Promise<void>;
  /** Takes a queued prompt back. What was attached to it; undefined if the server refused. */
  takeBack(promptId: string): Promise<readonly AttachmentRef[] | undefined>;
  /** Stops a sub-agent: the turn that called it goes on. */
  stopAgent(sessionId: string): Promise<void>;
  /** Leads to a command in the background; to its output where it is no longer among them. */
  showRunning(commandId: string): void;
  /** Loads items that precede the oldest one known. */
  loadEarlier(): void;
  /** Writes an earlier prompt in another way, in a fork from before it. Asks what becomes of the files. */
  editPrompt(itemId: string): void;
  /** Scrolls to an item of the conversation, loading what precedes it where needed. */
  showItem(itemId: string): void;
  /** What the user had given to these questions when the panel was there last; undefined if that is nothing. */
  keptAnswer(questionId: string): readonly GivenAnswer[] | undefined;
  /** Remembers that for the next time. */
  keepAnswer(questionId: string, given: readonly GivenAnswer[]): void;
}

/** A button beside a message that something was not done. */
export interface WayOut {
  label: string;
  run: () => void;
}

interface ActionParts {
  host: Host;
  /** Undefined until a session is shown. */
  sessionId: () => string | undefined;
  showError: (message: string, wayOut?: WayOut) => void;
  loadEarlier: () => void;
  /** The first turn that changed files, from that prompt on. */
  firstChangeFrom: (itemId: string) => string | undefined;
  showItem: (itemId: string) => void;
  /** False if it is not among those of the session that is shown. */
  showRunning: (commandId: string) => boolean;
  keptAnswer: Actions["keptAnswer"];
  keepAnswer: Actions["keepAnswer"];
}

export function createActions(parts: ActionParts): Actions {
  const { host, sessionId, showError, loadEarlier, firstChangeFrom, showItem } = parts;
  /** What was attached to the prompts of this panel, so that one of them can be sent again. */
  const attached = new Map<string, readonly AttachmentRef[]>();

  const ask: Actions["ask"] = async (method, params) => {
    const id = sessionId();
    if (id === undefined) {
      throw new Error(t("The session is not open yet"));
    }
    return host.request(method, { ...params, sessionId: id });
  };

  const request = async <M extends PassThroughMethod>(method: M, params: Omit<ParamsOf<M>, "sessionId">) => {
    try {
      return await ask(method, params);
    } catch (error) {
      showError(error instanceof Error ? error.message : String(error), wayOutOf(error, method, params));
      return undefined;
    }
  };

  const wayOutOf = (error: unknown, method: PassThroughMethod, params: object): WayOut | undefined => {
    const verb = method === "ullage/session/undoCompaction" ? "undo" : method === "ullage/session/redoCompaction" ? "redo" : undefined;
    const label = verb !== undefined && error instanceof Refused ? fitOffer(verb, error.reason) : undefined;
    if (verb === undefined || label === undefined) {
      return undefined;
    }
    return { label, run: () => void request(`ullage/session/${verb}Compaction`, { ...params, fit: true }) };
  };

  const prompt: Actions["prompt"] = async (text, attachments, delivery) => {
    const answer = await request("ullage/session/prompt", { text, attachments: [...attachments], delivery });
    if (answer !== undefined) {
      attached.set(answer.promptId, attachments);
    }
    return answer !== undefined;
  };

  /** As they were sent, where this page sent them; else, as after a reload, what the server makes of them. */
  const takeBack: Actions["takeBack"] = async (promptId) => {
    const answer = await request("ullage/session/unqueue", { promptId });
    return answer === undefined ? undefined : (attached.get(promptId) ?? answer.attachments);
  };

  return {
    runCommand: host.runCommand,
    openLink: host.openLink,
    openFile: host.openFile,
    copy: host.copy,
    insert: host.insert,
    apply: host.apply,
    findFiles: host.findFiles,
    gather: host.gather,
    readImage: host.readImage,
    send: async (method, params) => (await request(method, params)) !== undefined,
    ask,
    prompt,
    steer: async (promptId, text) => {
      const taken = await takeBack(promptId);
      if (taken !== undefined) {
        await prompt(text, taken, "steer");
      }
    },
    takeBack,
    stopAgent: async (agent) => {
      try {
        await host.request("ullage/session/cancel", { sessionId: agent });
      } catch (error) {
        showError(error instanceof Error ? error.message : String(error));
      }
    },
    showRunning: (commandId) => {
      if (!parts.showRunning(commandId)) {
        host.runCommand("ullage.showCommandOutput", commandId);
      }
    },
    loadEarlier,
    editPrompt: (itemId) => host.runCommand("ullage.editPrompt", [itemId, firstChangeFrom(itemId)].filter(Boolean).join(" ")),
    showItem,
    keptAnswer: parts.keptAnswer,
    keepAnswer: parts.keepAnswer,
  };
}
