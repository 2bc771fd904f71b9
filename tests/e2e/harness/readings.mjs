/** Long files for the model to read. Each is another one, since what is in view already comes as a reference. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Tokens of the models' window where a scenario fills it: three readings take it near its threshold, and after two turns no draft is begun. One
 * number for all of them, so that they go on in one window.
 */
export const SMALL_WINDOW = 63_000;

/**
 * Calls that read so many long files, which are made in the workspace.
 *
 * @param {string} workspace
 * @param {number} count
 */
export async function readings(workspace, count) {
  const text = await readFile(join(workspace, "data/readings.csv"), "utf8");
  const calls = [];
  for (let number = 1; number <= count; number += 1) {
    const path = `data/readings-${number}.csv`;
    await writeFile(
      join(workspace, path),
      text.replace(/\d(?=\r?\n)/g, (digit) => String((Number(digit) + number) % 10)),
    );
    calls.push({ call: "read_file", input: { path } });
  }
  return calls;
}
