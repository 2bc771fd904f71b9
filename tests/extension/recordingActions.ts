/** Actions that do nothing but say what was asked of them. */

import type { Actions } from "../../client-extension/webview/actions";

/** `done` has a line for each action, in order. `answer` gives what questions are answered with. */
export function recordingActions(answer: (method: string, params: object) => unknown = () => ({})): { actions: Actions; done: string[] } {
  const done: string[] = [];
  const say = (...parts: unknown[]) => done.push(parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" "));
  const actions: Actions = {
    send: async (method, params) => say(method, params) > 0,
    ask: async (method, params) => {
      say(method, params);
      return (await answer(method, params)) as never;
    },
    prompt: async (text, attachments, delivery) => say("prompt", text, attachments, delivery) > 0,
    steer: async (promptId, text) => void say("steer", promptId, text),
    takeBack: async (promptId) => (say("takeBack", promptId) > 0 ? [] : undefined),
    stopAgent: async (sessionId) => void say("stopAgent", sessionId),
    showRunning: (commandId) => void say("showRunning", commandId),
    loadEarlier: () => void say("loadEarlier"),
    editPrompt: (itemId) => void say("editPrompt", itemId),
    keptAnswer: () => undefined,
    keepAnswer: () => undefined,
    showItem: (itemId) => void say("showItem", itemId),
    runCommand: (command, ...argument) => void say("command", command, ...argument),
    openLink: (href) => void say("openLink", href),
    openFile: (path, line, near) => void say("openFile", path, ...[line, near].filter((each) => each !== undefined && each !== "")),
    insert: (text) => void say("insert", text),
    apply: (text, path) => void say("apply", text, path),
    copy: (text) => void say("copy", text),
    findFiles: async () => [],
    gather: async (what) => ({ kind: "text", name: what, text: `text of ${what}` }),
    readImage: async (path) => Promise.reject(new Error(`no image ${path}`)),
  };
  return { actions, done };
}
