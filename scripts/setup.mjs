/** Makes everything that the other scripts need: the Python environment and the JavaScript tools. Takes no time when nothing changed. */

import { pathToFileURL } from "node:url";
import { main } from "./lib/console.mjs";
import { installRootPackages } from "./lib/npm.mjs";
import { installPythonPackages } from "./lib/python.mjs";

/** Bring both sides to what their lock files name. */
export async function setUp() {
  await installPythonPackages();
  await installRootPackages();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    await setUp();
    return 0;
  });
}
