/** All end-to-end tests in one process. A file of them may as well be run alone: `node --test tests/e2e/turn.test.mjs`. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../scripts/lib/paths.mjs";

const folder = join(ROOT, "tests", "e2e");
for (const name of (await readdir(folder)).filter((file) => file.endsWith(".test.mjs")).toSorted()) {
  await import(pathToFileURL(join(folder, name)).href);
}
