/** Programs that do not come from a workspace: whoever wrote a repository must not choose what runs. No VS Code in here. */

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

/** Whether a path, or what it leads to, lies in one of the folders. A relative path counts as if it did. */
export function liesIn(path: string, folders: readonly string[]): boolean {
  if (!isAbsolute(path)) {
    return true;
  }
  const places = [path, real(path)];
  const roots = folders.flatMap((folder) => [folder, real(folder)]);
  return places.some((place) => roots.some((root) => isInside(place, root)));
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

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function canRun(path: string, windows: boolean): boolean {
  try {
    accessSync(path, windows ? constants.F_OK : constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
