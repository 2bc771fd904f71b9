/** Files of the repository that tests read, wherever the bundled test itself lies. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder with PROTOCOL.md, looked for upwards. */
export const ROOT = findRoot(import.meta.dirname);

export interface Fixture {
  name: string;
  content: Record<string, unknown>;
}

/** All fixtures of `tests/protocol/fixtures`. */
export function readFixtures(): Fixture[] {
  const folder = join(ROOT, "tests", "protocol", "fixtures");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name) => ({ name, content: JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, unknown> }));
}

function findRoot(folder: string): string {
  return existsSync(join(folder, "PROTOCOL.md")) ? folder : findRoot(dirname(folder));
}
