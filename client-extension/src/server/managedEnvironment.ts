/**
 * The Python environment that the extension keeps for the server: where it is, whether it is whole, its repair and removal.
 *
 * An environment is named after the hash of what it is made of and is built under another name (`environmentMaking.ts`), then renamed: it is
 * whole or not there, whatever interrupts its making, and two windows that make it at once do not disturb each other. No VS Code in here.
 */

import { createHash, randomUUID } from "node:crypto";
import { access, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { t } from "../l10n";
import { type Extra, EXTRAS, hasExtra, installExtra } from "./extraPackages";
import { CHECK, makeEnvironment, type Parts, readWheelIndex, type ReportProgress, serves, type Workshop } from "./environmentMaking";
import { EnvironmentError, noPython, ofFiles, UselessPython } from "./environmentTrouble";
import type { RunProgram } from "./process";
import type { FoundPythons, Python } from "./python";
import { interpreterIn } from "./pythonPlaces";

const PREFIX = "environment-";
const BUILDING_PREFIX = "building-";

export interface EnvironmentKeeper {
  /** Folder of the packaged extension with `ullage-*.whl`, `requirements.lock` and, in the builds for one system, `wheels/wheels.json`. */
  packageFolder: string;
  /** The program that unpacks wheels. */
  unpacker: string;
  /** The extension's global storage; environments live in it. */
  storageFolder: string;
  platform: NodeJS.Platform;
  run: RunProgram;
  findPythons: () => Promise<FoundPythons>;
  findUv: () => string | undefined;
  /** Environment variables for what goes to the network: the proxy. */
  network: Readonly<Record<string, string>>;
  /** Whether the last start with that interpreter went well: then it is not tried first. */
  isKnown: (interpreter: string) => boolean;
  /** Which packages beside the server's own the user wants in it (`extraPackages.ts`). */
  wanted: readonly Extra[];
  log: (line: string) => void;
  /** Ends the making. */
  signal?: AbortSignal;
}

/** Runs `task` under a progress that the user sees. */
export type WithProgress = (task: (report: ReportProgress) => Promise<void>) => Promise<void>;

/**
 * Path of the interpreter in the environment, which is made where it is missing, and made anew where the last start failed and it is broken.
 *
 * @throws EnvironmentError where this extension brings no server, no Python is found, or it cannot be made.
 */
export async function ensureEnvironment(keeper: EnvironmentKeeper, withProgress: WithProgress): Promise<string> {
  try {
    const parts = await readParts(keeper);
    const folder = join(keeper.storageFolder, PREFIX + parts.stamp);
    const interpreter = interpreterIn(folder, keeper.platform);
    if (await isSound(keeper, interpreter)) {
      keeper.log(`Environment: ${folder} is there`);
    } else {
      await withProgress((report) => make(keeper, parts, folder, report));
    }
    await addWanted(keeper, folder, withProgress);
    return interpreter;
  } catch (error) {
    keeper.log(`Environment: ${String(error)} (in ${keeper.storageFolder})`);
    throw ofFiles(error);
  }
}

/**
 * Puts packages beside the server's own into the environment that is in use. A server may run in it: it has them when it starts the next time.
 *
 * @param interpreter of that environment
 * @throws EnvironmentError where they cannot be had.
 */
export async function addExtra(keeper: EnvironmentKeeper, extra: Extra, interpreter: string, report: ReportProgress): Promise<void> {
  const folder = dirname(dirname(interpreter));
  if (!(await hasExtra(extra, folder, keeper.packageFolder))) {
    await installExtra(extra, shopOf(keeper), folder, report);
  }
}

/** A new version of the extension has a new environment: what the user wanted once is put there, too. Without it the server still runs. */
async function addWanted(keeper: EnvironmentKeeper, folder: string, withProgress: WithProgress): Promise<void> {
  for (const extra of EXTRAS) {
    if (!keeper.wanted.includes(extra) || (await hasExtra(extra, folder, keeper.packageFolder))) {
      continue;
    }
    try {
      await withProgress((report) => installExtra(extra, shopOf(keeper), folder, report));
    } catch (error) {
      keeper.signal?.throwIfAborted();
      keeper.log(`Environment: without the packages for ${extra}: ${String(error)}`);
    }
  }
}

/** Takes all environments away, and what is left of any that was being made. The next start makes one again. */
export async function removeEnvironments(storageFolder: string, log: (line: string) => void): Promise<void> {
  for (const name of await readdir(storageFolder).catch(() => [])) {
    if (name.startsWith(PREFIX) || name.startsWith(BUILDING_PREFIX)) {
      log(`Environment: removing ${join(storageFolder, name)}`);
      await rm(join(storageFolder, name), { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** An interpreter may be there and yet be of no use: the Python it was made with was updated or taken away, or files of it were removed. */
async function isSound(keeper: EnvironmentKeeper, interpreter: string): Promise<boolean> {
  if (!(await exists(interpreter)) || keeper.isKnown(interpreter)) {
    return exists(interpreter);
  }
  const { code, output } = await keeper.run(interpreter, CHECK, { cwd: keeper.packageFolder, timeout: 60_000, signal: keeper.signal });
  keeper.signal?.throwIfAborted();
  if (code !== 0) {
    keeper.log(`Environment: ${interpreter} does not run the server and is made anew\n${output.trimEnd()}`);
  }
  return code === 0;
}

async function readParts(keeper: EnvironmentKeeper): Promise<Parts> {
  const names = await readdir(keeper.packageFolder).catch(() => [] as string[]);
  const wheelName = names.find((name) => /^ullage-.*\.whl$/.test(name));
  if (wheelName === undefined || !names.includes("requirements.lock")) {
    throw new EnvironmentError(
      t('This build of the extension brings no server. Enter a Python that has one in the setting "Ullage › Server: Interpreter".'),
    );
  }
  const wheel = join(keeper.packageFolder, wheelName);
  const lock = join(keeper.packageFolder, "requirements.lock");
  const hash = createHash("sha256");
  hash.update(await readFile(wheel));
  hash.update(await readFile(lock));
  const wheels = await readWheelIndex(join(keeper.packageFolder, "wheels", "wheels.json"));
  return { wheel, lock, stamp: hash.digest("hex").slice(0, 16), wheels };
}

/** With the first Python that does; those that the wheels inside are for come first. */
async function make(keeper: EnvironmentKeeper, parts: Parts, folder: string, report: ReportProgress): Promise<void> {
  report(t("Looking for Python…"));
  const { usable, refused } = await keeper.findPythons();
  keeper.signal?.throwIfAborted();
  if (usable.length === 0) {
    throw noPython(refused, keeper.platform);
  }
  await mkdir(keeper.storageFolder, { recursive: true });
  await removeLeftovers(keeper, folder);
  const order = [...usable.filter((python) => serves(parts.wheels, python)), ...usable.filter((python) => !serves(parts.wheels, python))];
  let first: UselessPython | undefined;
  for (const python of order) {
    try {
      return await makeWith(keeper, parts, python, folder, report);
    } catch (error) {
      if (!(error instanceof UselessPython)) {
        throw error;
      }
      keeper.log(`Environment: ${python.path} is passed over: ${error.message}`);
      first ??= error;
    }
  }
  throw first ?? noPython(refused, keeper.platform);
}

async function makeWith(keeper: EnvironmentKeeper, parts: Parts, python: Python, folder: string, report: ReportProgress): Promise<void> {
  keeper.log(`Environment: making ${folder} with ${python.path}`);
  // No longer than the name that it gets: on Windows a path has 259 characters, and those of packages take 140 of them.
  const building = join(keeper.storageFolder, `${BUILDING_PREFIX}${process.pid}-${randomUUID().slice(0, 8)}`);
  try {
    await makeEnvironment(shopOf(keeper), parts, python, building, report);
    await moveIntoPlace(keeper, building, folder);
  } finally {
    await rm(building, { recursive: true, force: true }).catch(() => undefined);
  }
}

function shopOf(keeper: EnvironmentKeeper): Workshop {
  const { platform, run, log, network, signal, unpacker } = keeper;
  return { platform, run, log, network, signal, unpacker, cwd: keeper.packageFolder, uv: keeper.findUv() };
}

/** Another window may have been faster: its environment is as good as ours. One that is broken goes first. */
async function moveIntoPlace(keeper: EnvironmentKeeper, building: string, folder: string): Promise<void> {
  try {
    await whileHeld(keeper.platform, () => rename(building, folder));
    return;
  } catch (error) {
    if (!(await exists(folder))) {
      throw error;
    }
  }
  const { code } = await keeper.run(interpreterIn(folder, keeper.platform), CHECK, { cwd: keeper.packageFolder, timeout: 60_000 });
  if (code !== 0) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    await whileHeld(keeper.platform, () => rename(building, folder));
  }
}

/** Milliseconds between tries, and how many there are at most: virus scanners look at thousands of new files for some seconds. */
const HELD = { pause: 250, tries: 40 };

/** On Windows whoever reads a file keeps its folder from being renamed: that is tried again for a while. Elsewhere once is enough. */
export async function whileHeld(platform: NodeJS.Platform, move: () => Promise<void>, { pause, tries } = HELD): Promise<void> {
  for (let left = platform === "win32" ? tries : 1; ; left -= 1) {
    try {
      return await move();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (left <= 1 || !["EPERM", "EACCES", "EBUSY"].includes(code)) {
        throw error;
      }
      await delay(pause);
    }
  }
}

/** Removes environments of other versions and what an interrupted making left behind. */
async function removeLeftovers(keeper: EnvironmentKeeper, keep: string): Promise<void> {
  for (const name of await readdir(keeper.storageFolder)) {
    const path = join(keeper.storageFolder, name);
    const isOld = name.startsWith(PREFIX) && path !== keep;
    const isAbandoned = name.startsWith(BUILDING_PREFIX) && !isRunning(Number(name.split("-")[1]));
    if (isOld || isAbandoned) {
      keeper.log(`Environment: removing ${path}`);
      await rm(path, { recursive: true, force: true }).catch((error) => keeper.log(`Environment: ${String(error)}`));
    }
  }
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
