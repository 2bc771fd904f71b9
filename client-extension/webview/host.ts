/** The panel's way to the extension host: requests with answers, and orders without. `acquireVsCodeApi` is called here and only once. */

import type { Attachment } from "./dock/attachments";
import type { AttachmentRef, GivenAnswer, ParamsOf, ResultOf } from "../src/protocol";
import type { FileSuggestion, Gathered, ImageFile, PanelCommand, PassThroughMethod, ToHost, ToPanel } from "./messages";

interface VsCodeApi {
  postMessage(message: ToHost): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** What the panel itself remembers while it is hidden. */
export interface PanelMemory {
  draft: string;
  attached: readonly Attachment[];
  /** What was given to questions that are not answered yet. */
  answering?: { questionId: string; given: readonly GivenAnswer[] };
  /** The end of the conversation, as it was shown last (`state.ts`). */
  shown?: unknown;
}

/** What was asked for was not done; the message is for the user. `reason` is one of PROTOCOL.md's where the server refused. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly reason: string | undefined,
  ) {
    super(message);
  }
}

/** What the parts of the panel may ask for. */
export interface Host {
  /** @throws Refused */
  request: <M extends PassThroughMethod>(method: M, params: ParamsOf<M>) => Promise<ResultOf<M>>;
  /** @throws Refused */
  findFiles: (query: string) => Promise<FileSuggestion[]>;
  /** @throws Refused where the editor has nothing of it */
  gather: (what: Gathered) => Promise<AttachmentRef>;
  /** @throws Refused where it is no image that the panel may show */
  readImage: (path: string) => Promise<ImageFile>;
  /** With what it is about, where it takes that; empty: nothing. */
  runCommand: (command: PanelCommand, argument?: string) => void;
  openLink: (href: string) => void;
  /** At a line, or where a text stands that is in the file. */
  openFile: (path: string, line?: number, near?: string) => void;
  copy: (text: string) => void;
  /** Puts a text where the cursor stands in the editor that was used last. */
  insert: (text: string) => void;
  /** Offers a text as a change of a file: the one at `path`, else the one in the active editor. */
  apply: (text: string, path?: string) => void;
  /** Updates are missing. */
  resync: () => void;
  recall: () => PanelMemory;
  remember: (state: PanelMemory) => void;
}

/** Connects to the extension host. `receive` gets all its messages but the answers to requests. */
export function connectHost(receive: (message: Exclude<ToPanel, { type: "response" }>) => void): Host {
  const api = acquireVsCodeApi();
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  const ask = (make: (id: number) => ToHost): Promise<unknown> => {
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    pending.set(lastId, answer);
    api.postMessage(make(lastId));
    return answer.promise;
  };

  window.addEventListener("message", ({ data }: MessageEvent<ToPanel>) => {
    if (data.type !== "response") {
      receive(data);
      return;
    }
    const answer = pending.get(data.id);
    pending.delete(data.id);
    if (data.error !== undefined) {
      answer?.reject(new Refused(data.error, data.reason));
    } else {
      answer?.resolve(data.result);
    }
  });
  api.postMessage({ type: "ready" });
  const tellFocus = () => api.postMessage({ type: "focused", focused: document.hasFocus() });
  for (const event of ["focus", "blur"]) window.addEventListener(event, tellFocus);
  tellFocus();

  return {
    request: (method, params) => ask((id) => ({ type: "request", id, method, params })) as Promise<never>,
    gather: (what) => ask((id) => ({ type: "gather", id, what })) as Promise<AttachmentRef>,
    findFiles: (query) => ask((id) => ({ type: "findFiles", id, query })) as Promise<FileSuggestion[]>,
    readImage: (path) => ask((id) => ({ type: "readImage", id, path })) as Promise<ImageFile>,
    runCommand: (command, argument = "") => api.postMessage({ type: "command", command, argument }),
    openLink: (href) => api.postMessage({ type: "openLink", href }),
    openFile: (path, line, near) => api.postMessage({ type: "openFile", path, line, near }),
    apply: (text, path) => api.postMessage({ type: "apply", text, path }),
    insert: (text) => api.postMessage({ type: "insert", text }),
    copy: (text) => api.postMessage({ type: "copy", text }),
    resync: () => api.postMessage({ type: "resync" }),
    recall: () => ({ draft: "", attached: [], ...(api.getState() as Partial<PanelMemory> | undefined) }),
    remember: (state) => api.setState(state),
  };
}
