/**
 * `npm run docs [-- serve [--port N]]`: makes the site of the documentation in .dev/site, or shows it on this machine's loopback address and
 * makes it anew after each change. website/ has what it does.
 *
 * A link that leads nowhere, a page that is missing, and anything that a browser would load from another host make it fail.
 */

import { main } from "./lib/console.mjs";
import { ROOT, VENV_PYTHON } from "./lib/paths.mjs";
import { run } from "./lib/processes.mjs";
import { installPythonPackages } from "./lib/python.mjs";

await main(async () => {
  await installPythonPackages();
  return run([VENV_PYTHON, "-m", "website", ...process.argv.slice(2)], { cwd: ROOT });
});
