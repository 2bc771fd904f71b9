/** Asks the editor's Python extensions, where the user has them, which interpreter is in use. */

import * as vscode from "vscode";
import type { PythonCandidate } from "./python";

/** What we use of the Python extension's API (`ms-python.python`). */
interface PythonExtensionApi {
  environments?: { getActiveEnvironmentPath?: () => { path?: string } | undefined };
}

/** What we use of the Python Environments extension's API (`ms-python.vscode-python-envs`). */
interface PythonEnvironmentsApi {
  getEnvironment?: (scope: undefined) => Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
}

/** Interpreters that the user chose in the editor, best first. Empty where no such extension is there or it fails. */
export async function candidatesOfEditor(log: (line: string) => void): Promise<PythonCandidate[]> {
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
