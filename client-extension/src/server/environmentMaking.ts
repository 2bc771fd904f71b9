/**
 * How an environment is made, in a folder that nobody uses yet. Three ways, the first that goes:
 *
 * 1. From the wheels that the extension brings, where they fit the Python. It needs no network, no pip and no ensurepip: a few seconds.
 * 2. With uv, where there is one, from the package index.
 * 3. With the Python's own venv and pip, from the package index.
 *
 * What is installed is held against the hashes of the lock each time. No VS Code in here.
 */

import { readFile } from "node:fs/promises";
import { t } from "../l10n";
import { cannotInstall, cannotMake, doesNotRun, EnvironmentError, withoutPasswords } from "./environmentTrouble";
import type { RunProgram } from "./process";
import type { Python } from "./python";
import { interpreterIn } from "./pythonPlaces";

/** What is shown while an environment is made. */
export type ReportProgress = (message: string) => void;

/** What the packaged extension brings. */
export interface Parts {
  /** The server itself. */
  wheel: string;
  lock: string;
  /** Hash of both. */
  stamp: string;
  /** Index of the wheels inside; undefined in the build without them. */
  wheels: WheelIndex | undefined;
}

interface WheelIndex {
  /** `wheels.json`; the wheels lie beside it. */
  path: string;
  target: string;
  /** Versions of Python that it has wheels for. */
  pythons: readonly string[];
}

export interface Workshop {
  platform: NodeJS.Platform;
  run: RunProgram;
  log: (line: string) => void;
  /** A folder whose content nobody else chooses. */
  cwd: string;
  /** The program that unpacks the wheels inside (`python/unpack_wheels.py`). */
  unpacker: string;
  /** Path of uv. */
  uv: string | undefined;
  /** Environment variables for what goes to the network. */
  network: Readonly<Record<string, string>>;
  /** Ends the making. */
  signal: AbortSignal | undefined;
}

/** The index of the wheels that the extension brings; undefined if it brings none. */
export async function readWheelIndex(path: string): Promise<WheelIndex | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) {
    return undefined;
  }
  const index = JSON.parse(text) as { target: string; pythons: Record<string, string[]> };
  return { path, target: index.target, pythons: Object.keys(index.pythons) };
}

/** Whether the wheels inside are for that Python. */
export function serves(wheels: WheelIndex | undefined, python: Python): boolean {
  return wheels !== undefined && wheels.target === python.target && wheels.pythons.includes(python.version);
}

/**
 * Makes an environment with that Python in `folder`, which is not there yet, and starts the server's code in it once.
 *
 * @throws UselessPython where another Python may do; EnvironmentError where none would.
 */
export async function makeEnvironment(shop: Workshop, parts: Parts, python: Python, folder: string, report: ReportProgress): Promise<void> {
  report(t("Making a Python environment…"));
  if (parts.wheels !== undefined && serves(parts.wheels, python)) {
    await fromWheelsInside(shop, parts, parts.wheels, python, folder, report);
  } else if (shop.uv !== undefined) {
    await withUv(shop, shop.uv, parts, python, folder, report);
  } else {
    await withPip(shop, parts, python, folder, report);
  }
  report(t("Starting the server…"));
  await step(shop, interpreterIn(folder, shop.platform), CHECK, doesNotRun);
}

/** Reads all that the server needs to start. */
export const CHECK = ["-I", "-c", "import ullage.lsp.server"]; // oxlint-disable-line ullage/untranslated -- a program

async function fromWheelsInside(
  shop: Workshop,
  parts: Parts,
  wheels: WheelIndex,
  python: Python,
  folder: string,
  report: ReportProgress,
): Promise<void> {
  await step(shop, python.path, ["-I", "-m", "venv", "--without-pip", folder], cannotMake);
  const onLine = (line: string) => {
    const name = /^Unpacking (\w+)/.exec(line)?.[1];
    if (name !== undefined) {
      report(t("Installing {name}…", { name }));
    }
  };
  const interpreter = interpreterIn(folder, shop.platform);
  await step(shop, interpreter, ["-I", shop.unpacker, wheels.path, parts.wheel], cannotInstall, onLine);
}

async function withUv(shop: Workshop, uv: string, parts: Parts, python: Python, folder: string, report: ReportProgress): Promise<void> {
  await step(shop, uv, ["venv", "--no-project", "--python", python.path, folder], cannotMake);
  const install = ["pip", "install", "--python", interpreterIn(folder, shop.platform)];
  report(t("Installing the server's packages…"));
  await step(shop, uv, [...install, "--require-hashes", "--requirement", parts.lock], cannotInstall);
  report(t("Installing the server…"));
  await step(shop, uv, [...install, "--no-deps", parts.wheel], cannotInstall);
}

async function withPip(shop: Workshop, parts: Parts, python: Python, folder: string, report: ReportProgress): Promise<void> {
  // In two steps: venv keeps to itself why ensurepip failed, so a full disk would look like a Python without it.
  await step(shop, python.path, ["-I", "-m", "venv", "--without-pip", folder], cannotMake);
  await step(shop, interpreterIn(folder, shop.platform), ["-I", "-m", "ensurepip", "--default-pip"], cannotMake);
  const pip = ["-I", "-u", "-m", "pip", "--disable-pip-version-check", "--no-input", "install"];
  const interpreter = interpreterIn(folder, shop.platform);
  const onLine = (line: string) => {
    const name = /^(?:Collecting|Downloading) ([\w.-]+)/.exec(line)?.[1];
    if (name !== undefined) {
      report(t("Installing {name}…", { name }));
    }
  };
  report(t("Installing the server's packages…"));
  await step(shop, interpreter, [...pip, "--require-hashes", "-r", parts.lock], cannotInstall, onLine);
  report(t("Installing the server…"));
  await step(shop, interpreter, [...pip, "--no-deps", parts.wheel], cannotInstall);
}

/** Runs a program of the making. @throws what `explain` makes of its output where it fails. */
export async function step(
  shop: Workshop,
  command: string,
  args: readonly string[],
  explain: (output: string) => EnvironmentError,
  onLine?: (line: string) => void,
): Promise<void> {
  shop.log(`Environment: ${[command, ...args].join(" ")}`);
  const result = await shop.run(command, args, { cwd: shop.cwd, onLine, signal: shop.signal, env: shop.network });
  shop.signal?.throwIfAborted();
  if (result.code !== 0) {
    shop.log(withoutPasswords(result.output.trimEnd()));
    throw explain(result.output);
  }
}
