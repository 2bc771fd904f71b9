/** Finds the Pythons that are new enough to run the server, outside of the workspace. Knows nothing of environments; see `managedEnvironment.ts`. */

import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { liesIn } from "../files/places";
import { t } from "../l10n";
import type { RunProgram } from "./process";
import { fileName, isFromStore, isTrap, PYTHON_NAMES } from "./pythonPlaces";

export const OLDEST_PYTHON = [3, 11] as const;

export interface Python {
  /** Absolute path of the interpreter. */
  path: string;
  /** Such as `3.12`. */
  version: string;
  /** Which packages it runs, in VS Code's words for targets: `linux-x64`. Something else where it is no usual CPython. */
  target?: string;
}

/** An interpreter to try: an executable and arguments that stand before all others (`py -3`). */
export interface PythonCandidate {
  command: string;
  args: readonly string[];
  /** Where the candidate comes from, for the log. */
  origin: string;
}

/**
 * What to try, best known first: those of `chosen` that lie outside of the folders, then what PATH has outside of them, then those of `usual`.
 * The server's environment is made once for all windows, so no workspace may bring the interpreter.
 */
export function candidatesOutside(
  chosen: readonly PythonCandidate[],
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
  folders: readonly string[],
  log: (line: string) => void,
  usual: readonly string[] = [],
): PythonCandidate[] {
  const isOutside = (candidate: PythonCandidate) => {
    const inside = liesIn(candidate.command, folders);
    if (inside) {
      log(`Python: ${candidate.command} (${candidate.origin}) is passed over: it lies in the workspace`);
    }
    return !inside;
  };
  const named = (name: string, args: readonly string[], origin: string): PythonCandidate[] => {
    const command = findOnPath(name, env, platform, folders);
    return command === undefined ? [] : [{ command, args, origin }];
  };
  const launcher = platform === "win32" ? named("py", ["-3"], t("the Python launcher")) : [];
  const onPath = PYTHON_NAMES.flatMap((name) => named(name, [], "PATH"));
  const inPlaces = usual.map((command) => ({ command, args: [], origin: t("a usual place") }));
  const all = [...chosen.filter(isOutside), ...launcher, ...onPath, ...inPlaces.filter(isOutside)];
  const known = new Set<string>();
  return all.filter(({ command, args }) => {
    const isNew = !known.has(`${command} ${args.join(" ")}`) && !isTrap(command, platform);
    known.add(`${command} ${args.join(" ")}`);
    return isNew;
  });
}

/**
 * The first program of that name on PATH that lies outside of the folders; undefined if there is none.
 *
 * Relative entries of PATH are passed over: they lead to wherever the editor was started, which may be a workspace.
 */
export function findOnPath(name: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform, notIn: readonly string[]): string | undefined {
  const windows = platform === "win32";
  const entries = (env.PATH ?? env.Path ?? "").split(windows ? ";" : ":");
  return entries
    .filter((entry) => isAbsolute(entry))
    .map((entry) => join(entry, fileName(name, platform)))
    .find((candidate) => canRun(candidate, windows) && !liesIn(candidate, notIn));
}

/** Whether there is a file that may be started. */
export function canRun(path: string, windows: boolean): boolean {
  try {
    accessSync(path, windows ? constants.F_OK : constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Says path, version and target, a line each. What a Python was compiled for counts, not the machine: Windows on ARM runs either kind. */
/* oxlint-disable ullage/untranslated -- a program */
const PROBE = [
  "import platform, sys, sysconfig",
  "get = sysconfig.get_config_var",
  "kind = sysconfig.get_platform()",
  "machine = kind[4:] if kind.startswith('win-') else platform.machine().lower() if sys.maxsize > 2**32 else 'x86'",
  "arch = {'x86_64': 'x64', 'amd64': 'x64', 'aarch64': 'arm64'}.get(machine, machine)",
  "musl = 'musl' in str(get('HOST_GNU_TYPE')) + str(get('SOABI'))",
  "system = 'alpine' if musl else sys.platform",
  "usual = sys.implementation.name == 'cpython' and not get('Py_GIL_DISABLED')",
  "print(sys.executable)",
  "print('%d.%d' % sys.version_info[:2])",
  "print(f'{system}-{arch}' if usual else 'other')",
].join("\n");
/* oxlint-enable ullage/untranslated */
/** Else a pipe gets the code page of Windows, in which the folder of a user called Zoë is another one. */
const AS_UTF8 = ["-X", "utf8"];
const PROBE_TIMEOUT = 15_000;

export interface FoundPythons {
  /** Those that run and are new enough, in the order of the candidates. */
  usable: Python[];
  /** What is wrong with each of the others, for the user. */
  refused: string[];
}

/**
 * Tries all candidates at the same time.
 *
 * @param cwd where to run them: never a folder whose content others choose, since Windows looks for programs there first.
 */
export async function findPythons(
  candidates: readonly PythonCandidate[],
  run: RunProgram,
  cwd: string,
  log: (line: string) => void,
): Promise<FoundPythons> {
  const found: FoundPythons = { usable: [], refused: [] };
  const pythons = await Promise.all(candidates.map((candidate) => probe(candidate, run, cwd)));
  pythons.forEach((python, index) => {
    const { command = "", args = [], origin = "" } = candidates[index] ?? {};
    const name = [command, ...args].join(" ");
    if (python === undefined) {
      found.refused.push(t("{path} does not run", { path: name }));
      log(`Python: ${name} (${origin}) does not run`);
    } else if (!isNewEnough(python.version)) {
      found.refused.push(t("{path} is {version}", { path: name, version: python.version }));
      log(`Python: ${name} (${origin}) is ${python.version}, ${OLDEST_PYTHON.join(".")} or newer is needed`);
    } else if (isFromStore(python.path)) {
      found.refused.push(t("{path} is from the Microsoft Store, and cannot make environments for other programs", { path: python.path }));
      log(`Python: ${python.path} (${origin}) is from the Microsoft Store`);
    } else {
      log(`Python: ${name} (${origin}) is ${python.version} for ${python.target ?? "?"} at ${python.path}`);
      if (!found.usable.some((other) => other.path === python.path)) {
        found.usable.push(python);
      }
    }
  });
  return found;
}

async function probe(candidate: PythonCandidate, run: RunProgram, cwd: string): Promise<Python | undefined> {
  const result = await run(candidate.command, [...candidate.args, ...AS_UTF8, "-I", "-c", PROBE], { cwd, timeout: PROBE_TIMEOUT });
  const [path, version, target] = result.output.trim().split(/\r?\n/);
  return result.code === 0 && path && version && /^\d+\.\d+$/.test(version) ? { path, version, target } : undefined;
}

/** Whether `version` (such as `3.12`) is at least the oldest that runs the server. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST_PYTHON[0] || (major === OLDEST_PYTHON[0] && minor >= OLDEST_PYTHON[1]);
}
