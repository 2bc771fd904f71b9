/** The Python side of set-up: find an interpreter, make the virtual environment, install what the lock names. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Failure } from "./console.mjs";
import { hashOf, once } from "./once.mjs";
import { ROOT, VENV, VENV_PYTHON } from "./paths.mjs";
import { capture, quietly } from "./processes.mjs";

/** The oldest Python that Ullage runs on: the `anthropic` SDK needs it. */
const OLDEST = [3, 11];

/** In the order in which they are taken where they are about as quick as one another. */
const NAMES = ["python3.13", "python3.12", "python3.11", "python3.14", "python3", "python"];

/**
 * Says which Python it is, where it lies, and how many seconds it takes for some work of the usual kind.
 *
 * A Python that somebody compiled without the compiler's optimizations takes a third longer than that of the system's packages. The tests run Python
 * for minutes, so that counts.
 */
const ABOUT = `
import json, os, re, sys, time

class Counter:
    def __init__(self):
        self.counts = {}

    def add(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1
        return name

def work():
    start, counter = time.process_time(), Counter()
    for number in range(800):
        text = json.dumps({"number": number, "parts": [1, 2, 3]})
        counter.add(re.sub("[a-c]", "z", text)[:9])
    return time.process_time() - start

print(json.dumps([sys.version_info[:3], os.path.realpath(sys.executable), min(work() for _ in range(60))]))
`;

/** How much less time another one has to take than the first. A smaller difference may be chance. */
const MUCH_QUICKER = 0.85;

/** @typedef {{path: string, version: number[], seconds: number}} Python */

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

/** With the best Python that can make one: that of Debian cannot without another package. */
async function makeEnvironment() {
  const present = await capture([VENV_PYTHON, "-m", "pip", "--version"]);
  if (present.code === 0) return;
  const [best = "", ...others] = await findPythons();
  for (const python of [best, ...others].slice(0, -1)) {
    if ((await capture([python, "-m", "venv", "--clear", VENV])).code === 0) return;
  }
  await quietly([others.at(-1) ?? best, "-m", "venv", "--clear", VENV], {
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
 * The interpreters that are new enough, the best first.
 *
 * @param {string} searched the folders to look in, as PATH names them
 * @returns {Promise<string[]>} their paths
 */
export async function findPythons(searched = process.env["PATH"] ?? "") {
  /** @type {Python[]} */
  const fit = [];
  /** @type {string[]} */
  const tooOld = [];
  for (const command of candidates(searched)) {
    const { code, output } = await capture([...command, "-I", "-c", ABOUT]);
    const said = output.split("\n").findLast((line) => line.startsWith("[[")); // a Python may complain before it answers
    if (code !== 0 || said === undefined) continue;
    const [version, path, seconds] = /** @type {[number[], string, number]} */ (JSON.parse(said));
    if (!isNewEnough(version)) tooOld.push(`${command.join(" ")} is ${version.join(".")}`);
    else if (fit.every((known) => known.path !== path)) fit.push({ path, version, seconds });
  }
  if (fit.length > 0) return bestFirst(fit).map(({ path }) => path);
  const wanted = `Ullage needs Python ${OLDEST.join(".")} or newer`;
  const seen = tooOld.length > 0 ? tooOld.join(", ") : "no Python was found on the PATH";
  throw new Failure(`${wanted}: ${seen}. Install one from your system's packages or from python.org, then try again.`);
}

/** Every one in these folders, also behind another of the same name, as the words to start it with. @param {string} searched @returns {string[][]} */
function candidates(searched) {
  if (process.platform === "win32") return [...NAMES.map((name) => [name]), ["py", "-3"]];
  const folders = searched.split(delimiter).filter((folder) => folder !== "");
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
    .filter((path) => existsSync(path))
    .map((path) => [path]);
}

/** The first, unless another one is much quicker. @param {Python[]} pythons */
function bestFirst(pythons) {
  const [first, ...others] = pythons;
  if (first === undefined) return [];
  const quickest = others.toSorted((a, b) => a.seconds - b.seconds).at(0);
  if (quickest === undefined || quickest.seconds > MUCH_QUICKER * first.seconds) return pythons;
  return [quickest, ...pythons.filter((each) => each !== quickest)];
}

/** @param {number[]} version */
function isNewEnough([major = 0, minor = 0]) {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
