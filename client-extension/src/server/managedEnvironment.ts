/**
 * The Python environment that the extension makes for the server, from the wheel and the lock file that it brings.
 *
 * An environment is named after the hash of what it is made of and is built under another name, then renamed: it is whole or not
 * there, whatever interrupts its making, and two windows that make it at once do not disturb each other. No VS Code in here.
 */

import { createHash, randomUUID } from "node:crypto";
import { access, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { t } from "../l10n";
import type { RunProgram } from "./process";
import { OLDEST_PYTHON, type Python } from "./python";

const PREFIX = "environment-";
const BUILDING_PREFIX = "building-";

/** What is shown while an environment is made. */
export type ReportProgress = (message: string) => void;

export interface EnvironmentMaker {
  /** Folder of the packaged extension with `ullage-*.whl` and `requirements.lock`. */
  packageFolder: string;
  /** The extension's global storage; environments live in it. */
  storageFolder: string;
  platform: NodeJS.Platform;
  run: RunProgram;
  findPython: () => Promise<Python | undefined>;
  log: (line: string) => void;
  /** Ends the making. */
  signal?: AbortSignal;
}

/** Why there is no environment, in words for the user. The log has the details. */
export class EnvironmentError extends Error {}

/**
 * Path of the interpreter in the environment, which is made where it is missing.
 *
 * @throws EnvironmentError where this extension brings no server, no Python is found, or pip fails.
 */
export async function ensureEnvironment(maker: EnvironmentMaker, withProgress: WithProgress): Promise<string> {
  const parts = await readParts(maker);
  const folder = join(maker.storageFolder, PREFIX + parts.stamp);
  const interpreter = interpreterIn(folder, maker.platform);
  if (await exists(interpreter)) {
    maker.log(`Environment: ${folder} is there`);
    return interpreter;
  }
  const python = await maker.findPython();
  if (python === undefined) {
    const version = OLDEST_PYTHON.join(".");
    throw new EnvironmentError(
      t(
        'Python {version} or newer was not found. Install it, or enter its path in the setting "Ullage › Server: Interpreter". Then restart.',
        { version },
      ),
    );
  }
  maker.log(`Environment: making ${folder} with ${python.path}`);
  await withProgress((report) => makeEnvironment(maker, parts, python, folder, report));
  return interpreter;
}

/** Runs `task` under a progress that the user sees. */
export type WithProgress = (task: (report: ReportProgress) => Promise<void>) => Promise<void>;

interface Parts {
  wheel: string;
  lock: string;
  /** Hash of both. */
  stamp: string;
}

async function readParts(maker: EnvironmentMaker): Promise<Parts> {
  const names = await readdir(maker.packageFolder).catch(() => [] as string[]);
  const wheelName = names.find((name) => /^ullage-.*\.whl$/.test(name));
  if (wheelName === undefined || !names.includes("requirements.lock")) {
    throw new EnvironmentError(
      t('This build of the extension brings no server. Enter a Python that has one in the setting "Ullage › Server: Interpreter".'),
    );
  }
  const wheel = join(maker.packageFolder, wheelName);
  const lock = join(maker.packageFolder, "requirements.lock");
  const hash = createHash("sha256");
  hash.update(await readFile(wheel));
  hash.update(await readFile(lock));
  return { wheel, lock, stamp: hash.digest("hex").slice(0, 16) };
}

async function makeEnvironment(
  maker: EnvironmentMaker,
  parts: Parts,
  python: Python,
  folder: string,
  report: ReportProgress,
): Promise<void> {
  await mkdir(maker.storageFolder, { recursive: true });
  await removeLeftovers(maker, folder);
  const building = join(maker.storageFolder, `${BUILDING_PREFIX}${process.pid}-${randomUUID()}`);
  try {
    report(t("Making a Python environment…"));
    await step(maker, python.path, ["-I", "-m", "venv", building], explainVenvFailure);
    const pip = ["-I", "-u", "-m", "pip", "--disable-pip-version-check", "--no-input", "install"];
    const interpreter = interpreterIn(building, maker.platform);
    const onLine = (line: string) => {
      const name = /^(?:Collecting|Downloading) ([\w.-]+)/.exec(line)?.[1];
      if (name !== undefined) {
        report(t("Installing {name}…", { name }));
      }
    };
    report(t("Installing the server's packages…"));
    await step(maker, interpreter, [...pip, "--require-hashes", "-r", parts.lock], explainPipFailure, onLine);
    report(t("Installing the server…"));
    await step(maker, interpreter, [...pip, "--no-deps", parts.wheel], explainPipFailure);
    await moveIntoPlace(building, folder);
  } finally {
    await rm(building, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function step(
  maker: EnvironmentMaker,
  command: string,
  args: readonly string[],
  explain: (output: string) => string,
  onLine?: (line: string) => void,
): Promise<void> {
  maker.log(`Environment: ${[command, ...args].join(" ")}`);
  const result = await maker.run(command, args, { cwd: maker.storageFolder, onLine, signal: maker.signal });
  maker.signal?.throwIfAborted();
  if (result.code !== 0) {
    maker.log(result.output.trimEnd());
    throw new EnvironmentError(explain(result.output));
  }
}

function explainVenvFailure(output: string): string {
  if (/ensurepip/.test(output)) {
    return t(
      "Python cannot make environments here: its venv module is incomplete. Install it (on Debian and Ubuntu the package python3-venv), then restart the server.",
    );
  }
  return t("Python could not make an environment for the server. The log has its output.");
}

function explainPipFailure(output: string): string {
  if (
    /No matching distribution|Could not find a version|NewConnectionError|ConnectionError|Temporary failure in name resolution|ProxyError/i.test(
      output,
    )
  ) {
    return t(
      "The server's packages could not be downloaded. Check the network, or pip's proxy and index settings, then restart the server. The log has pip's output.",
    );
  }
  return t("The server's packages could not be installed. The log has pip's output.");
}

/** Another window may have been faster: its environment is as good as ours. */
async function moveIntoPlace(building: string, folder: string): Promise<void> {
  try {
    await rename(building, folder);
  } catch (error) {
    if (!(await exists(folder))) {
      throw error;
    }
  }
}

/** Removes environments of other versions and what an interrupted making left behind. */
async function removeLeftovers(maker: EnvironmentMaker, keep: string): Promise<void> {
  for (const name of await readdir(maker.storageFolder)) {
    const path = join(maker.storageFolder, name);
    const isOld = name.startsWith(PREFIX) && path !== keep;
    const isAbandoned = name.startsWith(BUILDING_PREFIX) && !isRunning(Number(name.split("-")[1]));
    if (isOld || isAbandoned) {
      maker.log(`Environment: removing ${path}`);
      await rm(path, { recursive: true, force: true }).catch((error) => maker.log(`Environment: ${String(error)}`));
    }
  }
}

function interpreterIn(folder: string, platform: NodeJS.Platform): string {
  return platform === "win32" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python"); // oxlint-disable-line ullage/untranslated -- a folder
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
