/** Brings together what starting the server needs: settings, trust, the managed environment, the key. */

import * as vscode from "vscode";
import type { ApiKey } from "./apiKey";
import { runProgram } from "./childProcess";
import type { ServerLaunch } from "./client";
import { ensureEnvironment, type WithProgress } from "./managedEnvironment";
import { candidatesOnPath, findPython, type Python } from "./python";
import { candidatesOfEditor } from "./pythonExtensions";
import { resolveServerCommand, type ServerCommand } from "./serverCommand";
import { serverEnvironment } from "./serverEnvironment";

/** How this window starts its server. */
export class Launch implements ServerLaunch {
  readonly workingFolder: string;
  readonly stateFolder: string;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly apiKey: ApiKey,
    private readonly channel: vscode.LogOutputChannel,
  ) {
    this.workingFolder = context.extensionPath;
    this.stateFolder = vscode.Uri.joinPath(context.globalStorageUri, "state").fsPath;
  }

  resolve(signal: AbortSignal, report: (message: string) => void): Promise<ServerCommand> {
    const settings = vscode.workspace.getConfiguration("ullage.server");
    return resolveServerCommand({
      trusted: vscode.workspace.isTrusted,
      command: settings.get<string[]>("command", []),
      interpreter: settings.get<string>("interpreter", "").trim(),
      ensureEnvironment: () => this.ensureEnvironment(signal, report),
      run: runProgram,
      log: this.log,
    });
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

  /** The editor's choice of interpreter may come from the workspace, so it counts only where that is trusted. */
  private async choosePython(): Promise<Python | undefined> {
    const chosen = vscode.workspace.isTrusted ? await candidatesOfEditor(this.log) : [];
    return findPython([...chosen, ...candidatesOnPath(process.platform)], runProgram, this.workingFolder, this.log);
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
