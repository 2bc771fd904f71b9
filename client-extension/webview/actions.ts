/** What the user can do from the panel, for the parts that draw it. Failures are shown above the prompt box. */

import type { AttachmentRef, ParamsOf } from "../src/protocol";
import type { Host } from "./host";
import type { PassThroughMethod } from "./messages";

export interface Actions extends Pick<Host, "runCommand" | "openLink" | "openFile" | "copy" | "findFiles"> {
  /** A request about the session that is shown. True where the server took it; else its message is shown. */
  send<M extends PassThroughMethod>(method: M, params: Omit<ParamsOf<M>, "sessionId">): Promise<boolean>;
  /** Sends a prompt. True where the server took it. */
  prompt(text: string, attachments: readonly AttachmentRef[], delivery: "queue" | "steer"): Promise<boolean>;
  /** Takes a queued prompt back and lets it join the running turn. */
  steer(promptId: string, text: string): Promise<void>;
  /** Loads items that precede the oldest one known. */
  loadEarlier(): void;
}

/** `sessionId` is undefined until a session is shown. */
export function createActions(
  host: Host,
  sessionId: () => string | undefined,
  showError: (message: string) => void,
  loadEarlier: () => void,
): Actions {
  /** What was attached to the prompts of this panel, so that one of them can be sent again. */
  const attached = new Map<string, readonly AttachmentRef[]>();

  const request = async <M extends PassThroughMethod>(method: M, params: Omit<ParamsOf<M>, "sessionId">) => {
    const id = sessionId();
    if (id === undefined) {
      showError("The session is not open yet");
      return undefined;
    }
    try {
      return await host.request(method, { ...params, sessionId: id });
    } catch (error) {
      showError(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };

  const prompt: Actions["prompt"] = async (text, attachments, delivery) => {
    const answer = await request("ullage/session/prompt", { text, attachments: [...attachments], delivery });
    if (answer !== undefined) {
      attached.set(answer.promptId, attachments);
    }
    return answer !== undefined;
  };

  return {
    runCommand: host.runCommand,
    openLink: host.openLink,
    openFile: host.openFile,
    copy: host.copy,
    findFiles: host.findFiles,
    send: async (method, params) => (await request(method, params)) !== undefined,
    prompt,
    steer: async (promptId, text) => {
      if ((await request("ullage/session/unqueue", { promptId })) !== undefined) {
        await prompt(text, attached.get(promptId) ?? [], "steer");
      }
    },
    loadEarlier,
  };
}
