/**
 * How the server is started. The first that applies wins, and each decision is logged:
 *
 * 1. The workspace is not trusted: the managed environment, whatever the settings say, since a folder that nobody vouches for
 *    must not choose what runs.
 * 2. `ullage.server.command`: run as it is.
 * 3. `ullage.server.interpreter`: a Python, where it can import `ullage`.
 * 4. The managed environment, made on first use (`managedEnvironment.ts`).
 *
 * Below that, the environment variables that it gets. No VS Code in here.
 */

import type { StoredKey } from "../model/storedKey";
import type { RunProgram } from "./process";

export interface ServerCommand {
  command: string;
  args: string[];
}

export interface ServerCommandInputs {
  trusted: boolean;
  /** `ullage.server.command`. */
  command: readonly string[];
  /** `ullage.server.interpreter`. */
  interpreter: string;
  /** Whether the last start with that interpreter went well: then it is not tried first, which takes as long as a start of Python. */
  isKnown: (interpreter: string) => boolean;
  /** Path of the managed environment's interpreter; makes the environment where it is missing. */
  ensureEnvironment: () => Promise<string>;
  run: RunProgram;
  log: (line: string) => void;
}

/**
 * Arguments after a Python. `-P` and `-I` keep the working folder out of the import path, so that a workspace with a file `json.py` cannot
 * stand in for the library's; `-I` also leaves the user's own packages and PYTHON* variables out.
 */
const SERVE_ISOLATED = ["-I", "-X", "utf8", "-m", "ullage", "serve"];
const SERVE = ["-P", "-X", "utf8", "-m", "ullage", "serve"];

/** @throws EnvironmentError where it comes to the managed environment and that cannot be made. */
export async function resolveServerCommand(inputs: ServerCommandInputs): Promise<ServerCommand> {
  if (!inputs.trusted) {
    inputs.log("Server: the workspace is not trusted; managed environment, settings not looked at");
    return managed(inputs);
  }
  const [command, ...args] = inputs.command;
  if (command) {
    inputs.log(`Server: the setting "Ullage › Server: Command" is set: ${inputs.command.join(" ")}`);
    return { command, args };
  }
  if (inputs.interpreter !== "") {
    if (inputs.isKnown(inputs.interpreter) || (await canImportUllage(inputs))) {
      inputs.log(`Server: the setting "Ullage › Server: Interpreter" is set: ${inputs.interpreter}`);
      return { command: inputs.interpreter, args: SERVE };
    }
    inputs.log(`Server: the setting "Ullage › Server: Interpreter" is passed over, "import ullage" fails there: ${inputs.interpreter}`);
  }
  inputs.log("Server: managed environment");
  return managed(inputs);
}

async function managed(inputs: ServerCommandInputs): Promise<ServerCommand> {
  return { command: await inputs.ensureEnvironment(), args: SERVE_ISOLATED };
}

async function canImportUllage(inputs: ServerCommandInputs): Promise<boolean> {
  const result = await inputs.run(inputs.interpreter, ["-P", "-c", "import ullage"], { timeout: 30_000 }); // oxlint-disable-line ullage/untranslated -- a program
  if (result.code !== 0) {
    inputs.log(result.output.trimEnd());
  }
  return result.code === 0;
}

/**
 * The editor's own environment without what only concerns the editor (a command that the agent runs must not inherit
 * `ELECTRON_RUN_AS_NODE`), and with the API key, which travels by no other way. A key that the user stored is for the address that is named beside
 * it, whatever is asked there; it wins over inherited ones.
 */
export function serverEnvironment(inherited: NodeJS.ProcessEnv, stored: StoredKey | undefined): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !/^(ELECTRON_|VSCODE_)/.test(name)) {
      env[name] = value;
    }
  }
  if (stored !== undefined) {
    env.ULLAGE_API_KEY = stored.key;
    delete env.ULLAGE_API_KEY_ADDRESS;
    if (stored.address !== undefined) {
      env.ULLAGE_API_KEY_ADDRESS = stored.address;
    }
  }
  return env;
}
