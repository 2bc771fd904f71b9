/** The Python side of set-up: find an interpreter, make the virtual environment, install what the lock names. */

import { join } from "node:path";
import { Failure } from "./console.mjs";
import { hashOf, once } from "./once.mjs";
import { ROOT, VENV, VENV_PYTHON } from "./paths.mjs";
import { capture, quietly } from "./processes.mjs";

/** The oldest Python that Ullage runs on: the `anthropic` SDK needs it. */
const OLDEST = [3, 11];

const CANDIDATES = [["python3.13"], ["python3.12"], ["python3.11"], ["python3.14"], ["python3"], ["python"], ["py", "-3"]];

/** Make .venv and install into it what requirements-dev.lock names, then Ullage itself, in place. */
export async function installPythonPackages() {
  const lock = join(ROOT, "requirements-dev.lock");
  const dependencies = {
    name: "python",
    title: "Making the Python environment from requirements-dev.lock",
    key: await hashOf([lock]),
    makes: VENV_PYTHON,
  };
  await once(dependencies, async () => {
    await makeEnvironment();
    await pip(["--require-hashes", "-r", lock]);
  });
  const itself = {
    name: "python-ullage",
    title: "Installing Ullage's server in place",
    key: await hashOf([join(ROOT, "pyproject.toml"), join(ROOT, "server", "ullage", "__init__.py")], [dependencies.key]),
    makes: VENV_PYTHON,
  };
  await once(itself, () => pip(["--no-deps", "--no-build-isolation", "--editable", ROOT]));
}

async function makeEnvironment() {
  const present = await capture([VENV_PYTHON, "-m", "pip", "--version"]);
  if (present.code === 0) return;
  const python = await findPython();
  await quietly([...python, "-m", "venv", "--clear", VENV], {
    advice: "On Debian and Ubuntu the module is a package of its own: apt-get install python3-venv",
  });
}

/** @param {string[]} what */
async function pip(what) {
  await quietly([VENV_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", ...what], {
    advice: "pip needs a package index: look at your network and at `pip config list`, then try again",
  });
}

/**
 * The first interpreter that is new enough, as the words to start it with.
 *
 * @returns {Promise<string[]>}
 */
async function findPython() {
  /** @type {string[]} */
  const found = [];
  for (const candidate of CANDIDATES) {
    const { code, output } = await capture([...candidate, "-c", "import sys; print(*sys.version_info[:3])"]);
    if (code !== 0) continue;
    const version = output.trim().split(" ").map(Number);
    if (isNewEnough(version)) return candidate;
    found.push(`${candidate.join(" ")} is ${version.join(".")}`);
  }
  const wanted = `Ullage needs Python ${OLDEST.join(".")} or newer`;
  const seen = found.length > 0 ? found.join(", ") : "no Python was found on the PATH";
  throw new Failure(`${wanted}: ${seen}. Install one from your system's packages or from python.org, then try again.`);
}

/** @param {number[]} version */
function isNewEnough([major = 0, minor = 0]) {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
