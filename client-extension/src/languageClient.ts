/** How the language client is set up: which documents it follows, what it logs and where, what it leaves to others. */

import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, type Executable, type LanguageClientOptions } from "vscode-languageclient/node";
import { applyAndSave } from "./applyEdits";
import { LogLineReader } from "./serverLog";

/** Settings that concern the extension alone. */
const EXTENSION_ONLY = new Set(["server", "trace"]);

/** What the editor keeps outside of the workspace: the user's own state, and the session that was open here last. */
export interface Remembered {
  stateFolder: string;
  rememberedSession: string | undefined;
}

/**
 * A client that is not started yet.
 *
 * @param onClosed called when the connection ends without having been stopped. The client never starts its server again by itself.
 */
export function createLanguageClient(
  executable: Executable,
  { stateFolder, rememberedSession }: Remembered,
  log: vscode.LogOutputChannel,
  onClosed: () => void,
): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }],
    outputChannel: log,
    traceOutputChannel: log,
    initializationOptions: { stateFolder, rememberedSession, trusted: vscode.workspace.isTrusted },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        onClosed();
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
  return new QuietLanguageClient("ullage", "Ullage", executable, options);
}

/** Its own notifications would say again, in its own words, what `ServerConnection` tells the user. */
class QuietLanguageClient extends LanguageClient {
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
