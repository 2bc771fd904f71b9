/**
 * How the language client is set up: which documents it follows, what it logs and where, what it leaves to others. And what the server asks the
 * editor for: edits in open documents, and the problems that language servers report. Its language models are in `model/editorModels.ts`.
 *
 * Loading the library behind it takes several times as long as all else of the extension. So it is imported while the server starts.
 */

import * as vscode from "vscode";
import type { ChildProcess } from "node:child_process";
import {
  type ApplyWorkspaceEditParams,
  CancellationToken,
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  ResponseError,
  MessageType,
  ShowMessageNotification,
  ShowMessageRequest,
  type StaticFeature,
  TextDocumentEdit,
  WorkDoneProgressCancelNotification,
  type WorkspaceMiddleware,
} from "vscode-languageclient/node";
import { UNTITLED } from "../files/fileFacts";
import type { SessionNews } from "../../webview/messages";
import type { ClientNotifications, Problem, ServerNotifications, ServerRequests, UpdateParams } from "../protocol";
import { EditorModels } from "../model/editorModels";
import { warn } from "../notify";
import { allSettings } from "../settings";
import { LogLineReader } from "./process";
import { showingProgress } from "./progress";
import { askInLanguage } from "./serverTexts";

/** Settings that concern the extension alone. */
const EXTENSION_ONLY = new Set(["server", "trace"]);

/** What the editor keeps outside of the workspace: the user's own state, and the session that was open here last. */
export interface Remembered {
  stateFolder: string;
  rememberedSession: string | undefined;
}

/** The secrets that the server keeps here: sign-ins to MCP servers. */
export type Secrets = Pick<vscode.SecretStorage, "get" | "store" | "delete">;

/** What the connection does with what comes. */
interface Listener {
  updated: (params: UpdateParams) => void;
  news: (news: SessionNews) => void;
  warned: (message: string) => void;
  /** Something is well again. */
  told: (message: string) => void;
  /** Something about MCP servers is new to show. */
  mcpChanged: () => void;
  /** The connection ended without having been stopped. The client never starts its server again by itself. */
  closed: () => void;
}

/**
 * A client that is not started yet.
 *
 * @param running gives the server's process, or why there is none.
 */
export function createLanguageClient(
  running: () => Promise<ChildProcess>,
  { stateFolder, rememberedSession }: Remembered,
  log: vscode.LogOutputChannel,
  { updated, news, warned, told, mcpChanged, closed }: Listener,
  secrets: Secrets,
): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }, { scheme: UNTITLED }],
    outputChannel: log,
    traceOutputChannel: log,
    initializationOptions: { stateFolder, rememberedSession, trusted: vscode.workspace.isTrusted, questions: true },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        closed();
        return { action: CloseAction.DoNotRestart, message: "Server: the connection is closed", handled: true }; // oxlint-disable-line ullage/untranslated -- for the log
      },
    },
    stdioOptions: { stdout: () => undefined, stderr: (stream) => logLines(stream, log) },
    middleware: {
      didOpen: async (document, next) => {
        await next(document);
        tellDirty(client, document);
      },
      didChange: async (event, next) => {
        await next(event);
        tellDirty(client, event.document);
      },
      handleWorkDoneProgress: showingProgress((token) => void client.sendNotification(WorkDoneProgressCancelNotification.type, { token })),
      workspace: {
        handleApplyEdit: applyAndSave,
        configuration: async (params, token, next) => {
          const answers = await next(params, token);
          return Array.isArray(answers)
            ? answers.map((answer, at) => (params.items[at]?.section === "ullage" ? forServer() : answer))
            : answers;
        },
      },
    },
  };
  const client = new QuietLanguageClient("ullage", "Ullage", running, options);
  client.registerFeature(new DirtyDocuments(client));
  client.registerFeature(new EditorModels(client));
  client.onNotification("ullage/session/update", updated);
  client.onNotification("ullage/session/figures", (params: ServerNotifications["ullage/session/figures"]) =>
    news({ type: "figures", ...params }),
  );
  client.onNotification("ullage/session/listChanged", () => news({ type: "listChanged" }));
  client.onNotification(ShowMessageNotification.type, ({ type, message }) => (type === MessageType.Info ? told : warned)(message));
  client.onRequest(ShowMessageRequest.type, ({ message, actions }) => askInLanguage(message, actions ?? [], warn));
  client.onRequest("ullage/editor/diagnostics", answerDiagnostics);
  client.onNotification("ullage/mcp/changed", () => mcpChanged());
  client.onRequest("ullage/secret/read", async ({ key }: ServerRequests["ullage/secret/read"][0]) => ({ value: await secrets.get(key) }));
  client.onRequest("ullage/secret/keep", async ({ key, value }: ServerRequests["ullage/secret/keep"][0]) => {
    await (value == null ? secrets.delete(key) : secrets.store(key, value));
    return {};
  });
  return client;
}

class QuietLanguageClient extends LanguageClient {
  /** Its own notifications would say again, in its own words, what `ServerConnection` tells the user. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Says of a document whether it has changes that are not saved: of its newest version, when the server knows that. */
function tellDirty(client: LanguageClient, document: vscode.TextDocument): void {
  const { uri, version, isDirty } = document;
  const params: ClientNotifications["ullage/editor/dirty"] = { uri: client.code2ProtocolConverter.asUri(uri), version, isDirty };
  void client.sendNotification("ullage/editor/dirty", params).catch(() => undefined); // a server that has gone needs no news
}

/** Says it, too, where that changes and the text does not: after a change was saved or taken back, and a moment after the first one. */
class DirtyDocuments implements StaticFeature {
  private listener: vscode.Disposable | undefined;

  constructor(private readonly client: LanguageClient) {}

  initialize(): void {
    this.listener = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length === 0 && document.uri.scheme === "file") {
        tellDirty(this.client, document);
      }
    });
  }

  getState(): { kind: "static" } {
    return { kind: "static" };
  }

  fillClientCapabilities(): void {
    // Nothing of LSP is about this.
  }

  clear(): void {
    this.listener?.dispose();
  }
}

function logLines(stream: NodeJS.ReadableStream, log: vscode.LogOutputChannel): void {
  const reader = new LogLineReader();
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => reader.read(chunk).forEach((line) => log[line.level](line.text)));
}

/** The server asks for the section `ullage`; what concerns the extension alone stays here. */
/** The settings that concern the server. */
function forServer(): Record<string, unknown> {
  return Object.fromEntries(Object.entries(allSettings()).filter(([name]) => !EXTENSION_ONLY.has(name)));
}

/**
 * Saves documents that an edit changed and that were saved before it: what the agent runs next reads the disk. A document with changes of
 * the user stays as it is, for them to save.
 */
const applyAndSave: NonNullable<WorkspaceMiddleware["handleApplyEdit"]> = async (params, next) => {
  const saved = documentsOf(params).filter((document) => !document.isDirty);
  const result = await next(params, CancellationToken.None);
  if (!(result instanceof ResponseError) && result.applied) {
    await Promise.all(saved.map((document) => document.save()));
  }
  return result;
};

function documentsOf({ edit }: ApplyWorkspaceEditParams): vscode.TextDocument[] {
  const changed = edit.documentChanges?.filter((change) => TextDocumentEdit.is(change)).map((change) => change.textDocument.uri);
  const uris = new Set([...(changed ?? []), ...Object.keys(edit.changes ?? {})].map((uri) => vscode.Uri.parse(uri).toString()));
  return vscode.workspace.textDocuments.filter((document) => uris.has(document.uri.toString()));
}

type Params = ServerRequests["ullage/editor/diagnostics"][0];
type Result = ServerRequests["ullage/editor/diagnostics"][1];

const SEVERITIES: Record<vscode.DiagnosticSeverity, Problem["severity"]> = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
  [vscode.DiagnosticSeverity.Information]: "information",
  [vscode.DiagnosticSeverity.Hint]: "hint",
};

/** The problems of one file, or of all. */
function answerDiagnostics(params: Params): Result {
  if (params.uri) {
    const uri = vscode.Uri.parse(params.uri);
    return { problems: vscode.languages.getDiagnostics(uri).map((diagnostic) => toProblem(uri, diagnostic)) };
  }
  const all = vscode.languages.getDiagnostics();
  return { problems: all.flatMap(([uri, diagnostics]) => diagnostics.map((diagnostic) => toProblem(uri, diagnostic))) };
}

function toProblem(uri: vscode.Uri, diagnostic: vscode.Diagnostic): Problem {
  return {
    uri: uri.toString(),
    line: diagnostic.range.start.line + 1,
    severity: SEVERITIES[diagnostic.severity],
    source: diagnostic.source ?? "",
    message: diagnostic.message,
  };
}
