/** Brings together what starting the server needs: settings, trust, the managed environment, the key. */

import * as vscode from "vscode";
import { REMEMBERED_SESSION } from "./activeSession";
import type { ApiKey } from "./apiKey";
import { runProgram } from "./childProcess";
import type { ServerLaunch } from "./client";
import type { Remembered } from "./languageClient";
import { ensureEnvironment, type WithProgress } from "./managedEnvironment";
import { liesIn } from "./outside";
import { candidatesOutside, findPython, type Python } from "./python";
import { candidatesOfEditor } from "./pythonExtensions";
import { resolveServerCommand, type ServerCommand } from "./serverCommand";
import { serverEnvironment } from "./serverEnvironment";

/** Where the editor keeps the interpreter with which the server ran last. */
const KNOWN_INTERPRETER = "ullage.knownInterpreter";

/** How this window starts its server. */
export class Launch implements ServerLaunch {
  readonly workingFolder: string;
  /** The interpreter of the setting, where this start uses it. */
  private used: string | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly apiKey: ApiKey,
    private readonly channel: vscode.LogOutputChannel,
  ) {
    this.workingFolder = context.extensionPath;
  }

  get remembered(): Remembered {
    return {
      stateFolder: vscode.Uri.joinPath(this.context.globalStorageUri, "state").fsPath,
      rememberedSession: this.context.workspaceState.get<string>(REMEMBERED_SESSION),
    };
  }

  resolve(signal: AbortSignal, report: (message: string) => void): Promise<ServerCommand> {
    const settings = vscode.workspace.getConfiguration("ullage.server");
    const known = this.context.globalState.get<string>(KNOWN_INTERPRETER);
    const interpreter = settings.get<string>("interpreter", "").trim();
    // Until this start has gone well, too, the next one tries it first.
    void this.context.globalState.update(KNOWN_INTERPRETER, undefined);
    this.used = interpreter;
    return resolveServerCommand({
      trusted: vscode.workspace.isTrusted,
      command: settings.get<string[]>("command", []),
      interpreter,
      isKnown: (path) => path === known,
      ensureEnvironment: () => this.ensureEnvironment(signal, report),
      run: runProgram,
      log: this.log,
    });
  }

  /** The server has answered. */
  started({ command }: ServerCommand): void {
    if (command !== "" && command === this.used) {
      void this.context.globalState.update(KNOWN_INTERPRETER, command);
    }
  }

  async environment(): Promise<Record<string, string>> {
    return serverEnvironment(process.env, await this.apiKey.read());
  }

  private readonly log = (line: string): void => this.channel.info(line);

  private ensureEnvironment(signal: AbortSignal, report: (message: string) => void): Promise<string> {
    const maker = {
      packageFolder: vscode.Uri.joinPath(this.context.extensionUri, "dist-server").fsPath,
      storageFolder: this.context.globalStorageUri.fsPath,
      platform: process.platform,
      run: runProgram,
      findPython: () => this.choosePython(),
      log: this.log,
      signal,
    };
    return ensureEnvironment(maker, withNotification(report));
  }

  /** The editor's choice of interpreter may come from the workspace: it counts only outside of it, and where that is trusted. */
  private async choosePython(): Promise<Python | undefined> {
    const chosen = vscode.workspace.isTrusted ? await candidatesOfEditor(this.log) : [];
    const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
    const candidates = candidatesOutside(chosen, process.env, process.platform, folders, this.log);
    const found = await findPython(candidates, runProgram, this.workingFolder, this.log);
    return found !== undefined && liesIn(found.path, folders) ? undefined : found;
  }
}

/** Shows progress in a notification, and passes it on to where else the user may look. */
function withNotification(report: (message: string) => void): WithProgress {
  const options = { location: vscode.ProgressLocation.Notification, title: "Ullage: setting up" };
  return async (task) => {
    await vscode.window.withProgress(options, (progress) =>
      task((message) => {
        progress.report({ message });
        report(`Setting up. ${message}`);
      }),
    );
  };
}
