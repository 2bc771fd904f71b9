/** All end-to-end tests in one process. A file of them may as well be run alone: `node --test tests/e2e/turn.test.mjs`. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../scripts/lib/paths.mjs";

/**
 * One after the other, so that each goes on in the window of the one before, all in one window. `opening` needs a new one, and `looks` comes
 * before others have opened parts of it beside the panel. What is always allowed from `turn` on comes late. After `reload` the page of a hidden
 * panel is kept, so only what hides none comes then.
 */
const IN_ONE_WINDOW = [
  ["opening", "looks", "modes", "permissions", "review", "narrow", "sub-agents", "running", "apply", "fork", "from-the-editor", "images"],
  ["mcp", "editor-models", "turn", "trouble"],
  ["history", "gauge", "idle", "background", "context-view"],
  ["reload", "coming-over", "web", "clouds", "team", "crash"],
].flat();

const folder = join(ROOT, "tests", "e2e");
const files = (await readdir(folder)).filter((file) => file.endsWith(".test.mjs")).toSorted();
const first = IN_ONE_WINDOW.map((name) => `${name}.test.mjs`);
for (const file of [...first, ...files.filter((name) => !first.includes(name))]) {
  await import(pathToFileURL(join(folder, file)).href);
}
