/**
 * What differs by system about Python: names, where interpreters usually lie beside PATH, and the layout of an environment. No VS Code in here.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { t } from "../l10n";

/** Newest that the extension brings wheels for first; a newer one is tried last, since what it needs may have to be compiled. */
export const PYTHON_NAMES = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"];

/** A program's file name. */
export function fileName(program: string, platform: NodeJS.Platform): string {
  return platform === "win32" ? `${program}.exe` : program;
}

/** Path of the interpreter in an environment. */
export function interpreterIn(folder: string, platform: NodeJS.Platform): string {
  return platform === "win32" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python"); // oxlint-disable-line ullage/untranslated -- a folder
}

/**
 * A program that is not to be started, though it bears the right name: on macOS `/usr/bin/python3` opens the dialog that installs Apple's tools where
 * these are missing, and is Python 3.9 where they are there.
 */
export function isTrap(path: string, platform: NodeJS.Platform): boolean {
  return platform === "darwin" && path === "/usr/bin/python3";
}

/**
 * Whether that Python came from the app store of Windows. What it writes to the folders of the user's programs goes to a folder of its own, so an
 * environment that it makes is not where others look for it. (So says Python's documentation; it was not tried.)
 */
export function isFromStore(path: string): boolean {
  return /\\WindowsApps\\/i.test(path);
}

/** Where Python lies, in words for the user. */
export function whereToGetPython(platform: NodeJS.Platform): string {
  if (platform === "win32") {
    return t("Install it from python.org or with winget.");
  }
  if (platform === "darwin") {
    return t("Install it from python.org or with Homebrew.");
  }
  return t("Install it with your system's package manager.");
}

/** A pattern of folders: each part is a name, or how a name begins. */
type Pattern = readonly (string | { begins: string })[];

/** Interpreters in the usual places, which an editor that was started from a menu does not have on its PATH. Newest version first. */
export function usualPythons(platform: NodeJS.Platform, env: NodeJS.ProcessEnv, home: string): string[] {
  return placesOf(platform, env, home).flatMap(([base, pattern]) => matches(base, pattern));
}

/** Where uv lies when PATH does not say. */
export function usualUvs(platform: NodeJS.Platform, home: string): string[] {
  return [join(home, ".local", "bin"), join(home, ".cargo", "bin")].map((folder) => join(folder, fileName("uv", platform)));
}

function placesOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv, home: string): [string | undefined, Pattern][] {
  const inBin: Pattern = ["bin", "python3"];
  const conda: [string, Pattern][] = ["miniconda3", "anaconda3", "miniforge3"].map((name) => [
    join(home, name),
    platform === "win32" ? ["python.exe"] : inBin,
  ]);
  if (platform === "win32") {
    return [
      [env.LOCALAPPDATA, ["Programs", "Python", { begins: "Python3" }, "python.exe"]], // oxlint-disable-line ullage/untranslated -- folders
      [env.ProgramFiles, [{ begins: "Python3" }, "python.exe"]],
      [env.APPDATA, ["uv", "python", { begins: "cpython-3" }, "python.exe"]],
      ...conda,
    ];
  }
  const everywhere: [string, Pattern][] = [
    [join(home, ".local", "bin"), [{ begins: "python3." }]],
    [join(home, ".local", "share", "uv", "python"), [{ begins: "cpython-3" }, ...inBin]],
    [env.PYENV_ROOT ?? join(home, ".pyenv"), ["versions", { begins: "3." }, ...inBin]],
    ...conda,
  ];
  const frameworks: [string, Pattern] = ["/Library/Frameworks/Python.framework/Versions", [{ begins: "3." }, ...inBin]];
  const brew: [string, Pattern][] = ["/opt/homebrew", "/usr/local"].map((folder) => [folder, inBin]);
  return platform === "darwin" ? [...brew, frameworks, ...everywhere] : everywhere;
}

function matches(base: string | undefined, [first, ...rest]: Pattern): string[] {
  if (base === undefined || first === undefined) {
    return base === undefined ? [] : [base];
  }
  let names: string[];
  try {
    names = readdirSync(base);
  } catch {
    return [];
  }
  const found = typeof first === "string" ? names.filter((name) => name === first) : names.filter((name) => name.startsWith(first.begins));
  return found
    .toSorted((one, other) => other.localeCompare(one, "en", { numeric: true }))
    .flatMap((name) => matches(join(base, name), rest));
}
