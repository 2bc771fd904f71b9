/** Brings together what starting the server needs: settings, trust, the managed environment, the user's Python, the key. */

import { homedir } from "node:os";
import { dirname } from "node:path";
import * as vscode from "vscode";
import { t } from "../l10n";
import { REMEMBERED_SESSION } from "../session/activeSession";
import type { ApiKey } from "../model/apiKey";
import { fromStore } from "../model/storedKey";
import { addExtra, ensureEnvironment, type EnvironmentKeeper, removeEnvironments, type WithProgress } from "./managedEnvironment";
import { type Extra, EXTRAS, hasExtra } from "./extraPackages";
import { proxyVariables } from "./environmentTrouble";
import { liesIn } from "../files/places";
import { candidatesOutside, canRun, findOnPath, type FoundPythons, findPythons, type PythonCandidate } from "./python";
import { usualPythons, usualUvs } from "./pythonPlaces";
import { resolveServerCommand, type ServerCommand, serverEnvironment } from "./command";
import type { ServerLaunch } from "./connection";
import type { Remembered, Secrets } from "./languageClient";
import { settingOf } from "../settings";
import { runProgram } from "./process";

/** Where the editor keeps the interpreter with which the server ran last. */
const KNOWN_INTERPRETER = "ullage.knownInterpreter";

/** Where the editor keeps that the user wants packages beside the server's own. */
const WANTED: Record<Extra, string> = { clouds: "ullage.wantsClouds", team: "ullage.wantsTeam" };

/** How this window starts its server. */
export class Launch implements ServerLaunch {
  readonly workingFolder: string;
  /** The interpreters that this start may use: that of the setting and that of the managed environment. */
  private used: (string | undefined)[] = [];
  /** The interpreter of the managed environment, where this window's server runs in it. */
  private managed: string | undefined;

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

  /** Under names of their own: the server names each secret, and none of its names can reach another one, such as the API key. */
  get secrets(): Secrets {
    const { secrets } = this.context;
    return {
      get: (key) => secrets.get(inCorner(key)),
      store: (key, value) => secrets.store(inCorner(key), value),
      delete: (key) => secrets.delete(inCorner(key)),
    };
  }

  resolve(signal: AbortSignal, report: (message: string) => void): Promise<ServerCommand> {
    const known = this.context.globalState.get<string>(KNOWN_INTERPRETER);
    const interpreter = settingOf("server.interpreter", "").trim();
    // Until this start has gone well, too, the next one tries it first.
    void this.context.globalState.update(KNOWN_INTERPRETER, undefined);
    this.used = [interpreter];
    this.managed = undefined;
    return resolveServerCommand({
      trusted: vscode.workspace.isTrusted,
      command: [...settingOf("server.command", [])],
      interpreter,
      isKnown: (path) => path === known,
      ensureEnvironment: async () => {
        const made = await ensureEnvironment(this.keeper(interpreter, known, signal), withNotification(report));
        this.used.push(made);
        this.managed = made;
        return made;
      },
      run: runProgram,
      log: this.log,
    });
  }

  /** The server has answered. */
  started({ command }: ServerCommand): void {
    if (command !== "" && this.used.includes(command)) {
      void this.context.globalState.update(KNOWN_INTERPRETER, command);
    }
  }

  async environment(): Promise<Record<string, string>> {
    return serverEnvironment(process.env, fromStore(await this.apiKey.read()));
  }

  private readonly log = (line: string): void => this.channel.info(line);

  /** Takes the environment away. No server may run in it. */
  removeEnvironment(): Promise<void> {
    return removeEnvironments(this.context.globalStorageUri.fsPath, this.log);
  }

  /** The same, and with it what the user once wanted in it. */
  async forgetEnvironment(): Promise<void> {
    for (const extra of EXTRAS) {
      await this.context.globalState.update(WANTED[extra], undefined);
    }
    await this.removeEnvironment();
  }

  /** Whether the server runs in the environment that the extension keeps. */
  get keepsEnvironment(): boolean {
    return this.managed !== undefined;
  }

  /** Whether it does, and that environment lacks these packages. */
  async lacks(extra: Extra): Promise<boolean> {
    return this.managed !== undefined && !(await hasExtra(extra, dirname(dirname(this.managed)), this.packageFolder));
  }

  /** Puts them there; from the next start on the server has them. @throws EnvironmentError where they cannot be had. */
  async add(extra: Extra, signal: AbortSignal, report: (message: string) => void): Promise<void> {
    if (this.managed !== undefined) {
      await addExtra(this.keeper("", undefined, signal), extra, this.managed, report);
      await this.context.globalState.update(WANTED[extra], true);
    }
  }

  private get packageFolder(): string {
    return vscode.Uri.joinPath(this.context.extensionUri, "dist-server").fsPath;
  }

  private keeper(interpreter: string, known: string | undefined, signal: AbortSignal): EnvironmentKeeper {
    const { extensionUri, globalStorageUri } = this.context;
    return {
      packageFolder: this.packageFolder,
      unpacker: vscode.Uri.joinPath(extensionUri, "python", "unpack_wheels.py").fsPath,
      storageFolder: globalStorageUri.fsPath,
      platform: process.platform,
      run: runProgram,
      findPythons: () => this.findPythons(interpreter),
      findUv: () => findUv(foldersOfWindow()),
      network: proxyVariables(proxySettings()),
      isKnown: (path) => path === known,
      wanted: EXTRAS.filter((extra) => this.context.globalState.get<boolean>(WANTED[extra]) === true),
      log: this.log,
      signal,
    };
  }

  /** The settings' and the editor's choice of interpreter may come from the workspace: they count only outside of it, and where that is trusted. */
  private async findPythons(interpreter: string): Promise<FoundPythons> {
    const ofSetting = interpreter === "" ? [] : [{ command: interpreter, args: [], origin: "ullage.server.interpreter" }];
    const chosen = vscode.workspace.isTrusted ? [...ofSetting, ...(await candidatesOfEditor(this.log))] : [];
    const folders = foldersOfWindow();
    const usual = usualPythons(process.platform, process.env, homedir());
    const candidates = candidatesOutside(chosen, process.env, process.platform, folders, this.log, usual);
    const { usable, refused } = await findPythons(candidates, runProgram, this.workingFolder, this.log);
    return { usable: usable.filter(({ path }) => !liesIn(path, folders)), refused };
  }
}

function foldersOfWindow(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
}

/** No workspace may bring the program that installs, either. */
function findUv(folders: readonly string[]): string | undefined {
  const isThere = (path: string) => canRun(path, process.platform === "win32") && !liesIn(path, folders);
  return findOnPath("uv", process.env, process.platform, folders) ?? usualUvs(process.platform, homedir()).find(isThere);
}

/** A proxy that a workspace names is passed over: it would see what is downloaded. */
function proxySettings() {
  const http = vscode.workspace.getConfiguration("http");
  const ofUser = <T>(name: string, usual: T): T => {
    const found = http.inspect<T>(name);
    return found?.globalValue ?? usual;
  };
  return { proxy: ofUser("proxy", "").trim(), noProxy: ofUser<string[]>("noProxy", []), support: ofUser("proxySupport", "override") };
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

/** Interpreters that the user chose in the editor, best first. Empty if no such extension is there or it fails. */
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

function inCorner(key: string): string {
  return `ullage.server:${key}`;
}
