/**
 * `npm run lock`: writes requirements.lock and requirements-dev.lock again from pyproject.toml.
 *
 * Versions that the locks already hold are kept as long as they fit; `npm run lock -- --upgrade` takes the newest. The locks hold for
 * every system and for Python 3.11 and newer, with hashes, and without the address of an index.
 */

import { main } from "./lib/console.mjs";
import { VENV_PYTHON } from "./lib/paths.mjs";
import { run } from "./lib/processes.mjs";
import { setUp } from "./setup.mjs";

const COMPILE = [
  ...[VENV_PYTHON, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"],
  ...["--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate", "pyproject.toml"],
];

const LOCKS = [
  ["--output-file", "requirements.lock"],
  ["--group", "dev", "--output-file", "requirements-dev.lock"],
];

await main(async () => {
  await setUp();
  for (const lock of LOCKS) {
    const code = await run([...COMPILE, ...lock, ...process.argv.slice(2)]);
    if (code !== 0) return code;
  }
  console.log("requirements.lock and requirements-dev.lock are up to date");
  return 0;
});
