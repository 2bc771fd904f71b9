/**
 * Where things lie in the repository, and where what is made goes.
 *
 * Everything that can be made again lies under .dev/ (or in .venv/ and node_modules/), which git ignores.
 */

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const ROOT = resolve(fileURLToPath(import.meta.url), "../../..");

/** What set-up, builds and tests make, but for the two folders whose place is fixed by their tools. */
export const STATE = join(ROOT, ".dev");

/** The virtual environment of Python. */
export const VENV = join(ROOT, ".venv");

/** The Python of the virtual environment. */
export const VENV_PYTHON = process.platform === "win32" ? join(VENV, "Scripts", "python.exe") : join(VENV, "bin", "python");

/** The extension's folder, with its manifest. */
export const EXTENSION = join(ROOT, "client-extension");

/** The project that `npm start` opens a copy of. */
export const SAMPLE_WORKSPACE = join(ROOT, "sample-workspace");
