/** Brings together what starting the server needs: settings, trust, the managed environment, the user's Python, the key. */

import * as vscode from "vscode";
import { t } from "../l10n";
import { REMEMBERED_SESSION } from "../session/activeSession";
import type { ApiKey } from "../model/connect";
import { ensureEnvironment, type WithProgress } from "./managedEnvironment";
import { liesIn } from "../files/places";
import { candidatesOutside, findPython, type Python, type PythonCandidate } from "./python";
import { resolveServerCommand, type ServerCommand, serverEnvironment } from "./command";
import type { ServerLaunch } from "./connection";
import type { Remembered } from "./languageClient";
import { runProgram } from "./process";

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
  const options = { location: vscode.ProgressLocation.Notification, title: t("Ullage: setting up") };
  return async (task) => {
    await vscode.window.withProgress(options, (progress) =>
      task((message) => {
        progress.report({ message });
        report(t("Setting up. {message}", { message }));
      }),
    );
  };
}

/** What we use of the Python extension's API (`ms-python.python`). */
interface PythonExtensionApi {
  environments?: { getActiveEnvironmentPath?: () => { path?: string } | undefined };
}

/** What we use of the Python Environments extension's API (`ms-python.vscode-python-envs`). */
interface PythonEnvironmentsApi {
  getEnvironment?: (scope: undefined) => Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
}

/** Interpreters that the user chose in the editor, best first. Empty where no such extension is there or it fails. */
async function candidatesOfEditor(log: (line: string) => void): Promise<PythonCandidate[]> {
  const found: PythonCandidate[] = [];
  const ask = async (extension: string, question: () => Promise<string | undefined>) => {
    try {
      const command = await question();
      if (command) {
        found.push({ command, args: [], origin: extension });
      }
    } catch (error) {
      log(`Python: ${extension} could not be asked (${String(error)})`);
    }
  };
  await ask("ms-python.vscode-python-envs", async () => {
    const api = await activate<PythonEnvironmentsApi>("ms-python.vscode-python-envs");
    return (await api?.getEnvironment?.(undefined))?.execInfo?.run?.executable;
  });
  await ask("ms-python.python", async () => {
    const api = await activate<PythonExtensionApi>("ms-python.python");
    return api?.environments?.getActiveEnvironmentPath?.()?.path;
  });
  return found;
}

async function activate<Api>(id: string): Promise<Api | undefined> {
  return vscode.extensions.getExtension<Api>(id)?.activate();
}
