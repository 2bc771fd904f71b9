/**
 * How the language client is set up: which documents it follows, what it logs and where, what it leaves to others.
 *
 * Loading the library behind it takes several times as long as all else of the extension. So it is imported while the server starts.
 */

import * as vscode from "vscode";
import type { ChildProcess } from "node:child_process";
import { CloseAction, ErrorAction, LanguageClient, ShowMessageNotification, type LanguageClientOptions } from "vscode-languageclient/node";
import { applyAndSave } from "./applyEdits";
import { answerDiagnostics } from "./diagnostics";
import { UNTITLED } from "./documentName";
import type { UpdateParams } from "./protocol";
import { LogLineReader } from "./serverLog";

/** Settings that concern the extension alone. */
const EXTENSION_ONLY = new Set(["server", "trace"]);

/** What the editor keeps outside of the workspace: the user's own state, and the session that was open here last. */
export interface Remembered {
  stateFolder: string;
  rememberedSession: string | undefined;
}

/** What the connection does with what comes. */
export interface Listener {
  updated: (params: UpdateParams) => void;
  told: (message: string) => void;
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
  { updated, told, closed }: Listener,
): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }, { scheme: UNTITLED }],
    outputChannel: log,
    traceOutputChannel: log,
    initializationOptions: { stateFolder, rememberedSession, trusted: vscode.workspace.isTrusted },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        closed();
        return { action: CloseAction.DoNotRestart, message: "Server: the connection is closed", handled: true };
      },
    },
    stdioOptions: { stdout: () => undefined, stderr: (stream) => logLines(stream, log) },
    middleware: {
      workspace: {
        handleApplyEdit: applyAndSave,
        configuration: async (params, token, next) => {
          const answers = await next(params, token);
          return Array.isArray(answers) ? answers.map(withoutExtensionOnly) : answers;
        },
      },
    },
  };
  const client = new QuietLanguageClient("ullage", "Ullage", running, options);
  client.onNotification("ullage/session/update", updated);
  client.onNotification(ShowMessageNotification.type, ({ message }) => told(message));
  client.onRequest("ullage/editor/diagnostics", answerDiagnostics);
  return client;
}

class QuietLanguageClient extends LanguageClient {
  /** Its own notifications would say again, in its own words, what `ServerConnection` tells the user. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function logLines(stream: NodeJS.ReadableStream, log: vscode.LogOutputChannel): void {
  const reader = new LogLineReader();
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => reader.read(chunk).forEach((line) => log[line.level](line.text)));
}

/** The server asks for the section `ullage`; what concerns the extension alone stays here. */
function withoutExtensionOnly(section: unknown): unknown {
  if (typeof section !== "object" || section === null) {
    return section;
  }
  return Object.fromEntries(Object.entries(section).filter(([name]) => !EXTENSION_ONLY.has(name)));
}
