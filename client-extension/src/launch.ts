/** Brings together what starting the server needs: settings, trust, the managed environment, the key. */

import * as vscode from "vscode";
import type { ApiKey } from "./apiKey";
import { runProgram } from "./childProcess";
import type { ServerLaunch } from "./client";
import { ensureEnvironment } from "./managedEnvironment";
import { candidatesOnPath, findPython, type Python } from "./python";
import { candidatesOfEditor } from "./pythonExtensions";
import { resolveServerCommand, type ServerCommand } from "./serverCommand";
import { serverEnvironment } from "./serverEnvironment";

/** How this window starts its server. */
export function createLaunch(context: vscode.ExtensionContext, apiKey: ApiKey, channel: vscode.LogOutputChannel): ServerLaunch {
  const log = (line: string) => channel.info(line);
  return {
    resolve: (signal) => resolve(context, signal, log),
    environment: async () => serverEnvironment(process.env, await apiKey.read()),
    workingFolder: context.extensionPath,
    stateFolder: vscode.Uri.joinPath(context.globalStorageUri, "state").fsPath,
  };
}

async function resolve(context: vscode.ExtensionContext, signal: AbortSignal, log: (line: string) => void): Promise<ServerCommand> {
  const settings = vscode.workspace.getConfiguration("ullage.server");
  const trusted = vscode.workspace.isTrusted;
  return resolveServerCommand({
    trusted,
    command: settings.get<string[]>("command", []),
    interpreter: settings.get<string>("interpreter", "").trim(),
    ensureEnvironment: () => ensureManagedEnvironment(context, trusted, signal, log),
    run: runProgram,
    log,
  });
}

function ensureManagedEnvironment(
  context: vscode.ExtensionContext,
  trusted: boolean,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<string> {
  return ensureEnvironment(
    {
      packageFolder: vscode.Uri.joinPath(context.extensionUri, "dist-server").fsPath,
      storageFolder: context.globalStorageUri.fsPath,
      platform: process.platform,
      run: runProgram,
      findPython: () => choosePython(context.extensionPath, trusted, log),
      log,
      signal,
    },
    async (task) => {
      const options = { location: vscode.ProgressLocation.Notification, title: "Ullage: setting up" };
      await vscode.window.withProgress(options, (progress) => task((message) => progress.report({ message })));
    },
  );
}

/** The editor's choice of interpreter may come from the workspace, so it counts only where that is trusted. */
async function choosePython(cwd: string, trusted: boolean, log: (line: string) => void): Promise<Python | undefined> {
  const chosen = trusted ? await candidatesOfEditor(log) : [];
  return findPython([...chosen, ...candidatesOnPath(process.platform)], runProgram, cwd, log);
}
