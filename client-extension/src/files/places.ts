/**
 * In which folder a path lies, by its names or once symbolic links are followed. What a model, a page or a repository names must not lead out of
 * the workspace, and no program that runs may come from it. No VS Code in here.
 */

import { realpathSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, sep } from "node:path";

/** Whether a path lies in a folder, or is that folder, by their names alone. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Where a path may lead: one that is relative is so to `top`, and all have to lie in one of the folders `within`. */
export interface Place {
  top: string;
  within: string[];
}

/**
 * Whether a path lies in one of these places once symbolic links are followed. It need not be there: then its nearest folder counts. A link to what
 * is not there lies nowhere, since whatever is written through it is made where it leads.
 */
export async function isReallyInside(path: string, places: readonly Place[]): Promise<boolean> {
  const folders = await Promise.all(places.flatMap(({ within }) => within).map((folder) => realpath(folder).catch(() => folder)));
  const led = await realPlace(path);
  return led !== undefined && folders.some((folder) => isInside(led, folder));
}

async function realPlace(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    const isThere = await lstat(path).catch(() => undefined);
    return isThere !== undefined || dirname(path) === path ? undefined : realPlace(dirname(path));
  }
}

/** Whether a path, or what it leads to, lies in one of the folders. A relative path counts as if it did. */
export function liesIn(path: string, folders: readonly string[]): boolean {
  if (!isAbsolute(path)) {
    return true;
  }
  const places = [path, real(path)];
  const roots = folders.flatMap((folder) => [folder, real(folder)]);
  return places.some((place) => roots.some((root) => isInside(place, root)));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** How the server names a file: relative to the first workspace folder, absolute in any other, always with `/`; undefined outside of them. */
export function nameOfFile(path: string, folders: readonly string[]): string | undefined {
  const places = folders.map((folder) => relative(folder, path));
  const inside = folders.map((folder, index) => places[index] !== "" && isInside(path, folder));
  if (!inside.includes(true)) {
    return undefined;
  }
  return (inside[0] === true ? (places[0] ?? path) : path).replaceAll(sep, "/");
}
