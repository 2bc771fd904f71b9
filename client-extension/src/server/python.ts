/** Finds a Python that is new enough to run the server, outside of the workspace. Knows nothing of environments; see `managedEnvironment.ts`. */

import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { liesIn } from "../files/places";
import { t } from "../l10n";
import type { RunProgram } from "./process";

export const OLDEST_PYTHON = [3, 11] as const;

export interface Python {
  /** Absolute path of the interpreter. */
  path: string;
  /** Such as `3.12`. */
  version: string;
}

/** An interpreter to try: an executable and arguments that stand before all others (`py -3`). */
export interface PythonCandidate {
  command: string;
  args: readonly string[];
  /** Where the candidate comes from, for the log. */
  origin: string;
}

const NAMES = ["python3.13", "python3.12", "python3.11", "python3", "python"];

/**
 * What to try, best known first: those of `chosen` that lie outside of the folders, then what PATH has outside of them. The server's
 * environment is made once for all windows, so no workspace may bring the interpreter.
 */
export function candidatesOutside(
  chosen: readonly PythonCandidate[],
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
  folders: readonly string[],
  log: (line: string) => void,
): PythonCandidate[] {
  const outside = chosen.filter((candidate) => {
    const inside = liesIn(candidate.command, folders);
    if (inside) {
      log(`Python: ${candidate.command} (${candidate.origin}) is passed over: it lies in the workspace`);
    }
    return !inside;
  });
  const named = (name: string, args: readonly string[], origin: string): PythonCandidate[] => {
    const command = findOnPath(name, env, platform, folders);
    return command === undefined ? [] : [{ command, args, origin }];
  };
  const launcher = platform === "win32" ? named("py", ["-3"], t("the Python launcher")) : [];
  return [...outside, ...launcher, ...NAMES.flatMap((name) => named(name, [], "PATH"))];
}

/**
 * The first program of that name on PATH that lies outside of the folders; undefined where there is none.
 *
 * Relative entries of PATH are passed over: they lead to wherever the editor was started, which may be a workspace.
 */
export function findOnPath(name: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform, notIn: readonly string[]): string | undefined {
  const windows = platform === "win32";
  const entries = (env.PATH ?? env.Path ?? "").split(windows ? ";" : ":");
  const file = windows ? `${name}.exe` : name;
  return entries
    .filter((entry) => isAbsolute(entry))
    .map((entry) => join(entry, file))
    .find((candidate) => canRun(candidate, windows) && !liesIn(candidate, notIn));
}

function canRun(path: string, windows: boolean): boolean {
  try {
    accessSync(path, windows ? constants.F_OK : constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const PROBE = "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2])"; // oxlint-disable-line ullage/untranslated -- a program
const PROBE_TIMEOUT = 15_000;

/**
 * The first candidate that runs and is new enough.
 *
 * @param cwd where to run them: never a folder whose content others choose, since Windows looks for programs there first.
 * @returns undefined where there is none; `log` then has a line on each.
 */
export async function findPython(
  candidates: readonly PythonCandidate[],
  run: RunProgram,
  cwd: string,
  log: (line: string) => void,
): Promise<Python | undefined> {
  for (const candidate of candidates) {
    const python = await probe(candidate, run, cwd);
    const name = [candidate.command, ...candidate.args].join(" ");
    if (python === undefined) {
      log(`Python: ${name} (${candidate.origin}) does not run`);
    } else if (!isNewEnough(python.version)) {
      log(`Python: ${name} (${candidate.origin}) is ${python.version}, ${OLDEST_PYTHON.join(".")} or newer is needed`);
    } else {
      log(`Python: ${name} (${candidate.origin}) is ${python.version} at ${python.path}`);
      return python;
    }
  }
  return undefined;
}

async function probe(candidate: PythonCandidate, run: RunProgram, cwd: string): Promise<Python | undefined> {
  const result = await run(candidate.command, [...candidate.args, "-I", "-c", PROBE], { cwd, timeout: PROBE_TIMEOUT });
  const [path, version] = result.output.trim().split(/\r?\n/);
  return result.code === 0 && path && version ? { path, version } : undefined;
}

/** Whether `version` (such as `3.12`) is at least the oldest that runs the server. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST_PYTHON[0] || (major === OLDEST_PYTHON[0] && minor >= OLDEST_PYTHON[1]);
}
