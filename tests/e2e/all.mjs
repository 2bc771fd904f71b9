/** All end-to-end tests in one process. A file of them may as well be run alone: `node --test tests/e2e/turn.test.mjs`. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../scripts/lib/paths.mjs";

/**
 * One after the other, so that each goes on in the window of the one before; the first two lists share one. What is always allowed from then
 * on comes last in it. `looks` comes before others have opened parts of the window beside the panel. `history` comes after models with a window
 * of another size, for which the server was started again: one that has compacted before reckons with what it has learned.
 */
const IN_ONE_WINDOW = [
  ["looks", "modes", "permissions", "review", "narrow", "sub-agents", "running", "apply", "fork", "from-the-editor"],
  ["turn", "reload", "trouble", "gauge", "idle", "background", "context-view", "history", "images"],
  ["mcp", "crash"],
  ["opening", "editor-models"],
];

const folder = join(ROOT, "tests", "e2e");
const files = (await readdir(folder)).filter((file) => file.endsWith(".test.mjs")).toSorted();
const first = IN_ONE_WINDOW.flat().map((name) => `${name}.test.mjs`);
for (const file of [...first, ...files.filter((name) => !first.includes(name))]) {
  await import(pathToFileURL(join(folder, file)).href);
}
