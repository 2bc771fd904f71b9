/** How the server names a file. No VS Code in here. */

import { isAbsolute, relative, sep } from "node:path";

/** Relative to the first workspace folder, absolute in any other, always with `/`; undefined outside of them. */
export function nameOfFile(path: string, folders: readonly string[]): string | undefined {
  const places = folders.map((folder) => relative(folder, path));
  const inside = places.map((place) => place !== "" && place !== ".." && !place.startsWith(`..${sep}`) && !isAbsolute(place));
  if (!inside.includes(true)) {
    return undefined;
  }
  return (inside[0] === true ? (places[0] ?? path) : path).replaceAll(sep, "/");
}
