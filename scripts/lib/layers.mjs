/** The layers of the test suite: what each runs, and what came of it. */

import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "./console.mjs";
import { ROOT, STATE, VENV_PYTHON } from "./paths.mjs";
import { run } from "./processes.mjs";

/**
 * @typedef {object} Outcome
 * @property {number} passed tests that passed
 * @property {number} failed tests that failed; at least one if the layer could not run to its end
 */

/** @typedef {{name: string, run: () => Promise<Outcome>}} Layer */

const REPORTS = join(STATE, "reports");

/** In the order in which they run: the quick ones first. @type {Layer[]} */
export const LAYERS = [
  { name: "check", run: checks },
  { name: "python", run: python },
  { name: "extension", run: () => nodeTests("extension", []) },
  // The browser and VS Code take a core each; scenarios side by side would only wait for one another.
  { name: "e2e", run: () => nodeTests("e2e", ["--test-concurrency=1"]) },
];

/** The checks count as one test. @returns {Promise<Outcome>} */
async function checks() {
  const code = await run([process.execPath, join(ROOT, "scripts", "check.mjs")]);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** @returns {Promise<Outcome>} */
async function python() {
  const report = await freshReport("python");
  const code = await run([VENV_PYTHON, "-m", "pytest", "-q", `--junitxml=${report}`, "tests/unit", "tests/server"]);
  return outcome(report, code);
}

/** @param {string} name folder in tests/ @param {string[]} flags @returns {Promise<Outcome>} */
async function nodeTests(name, flags) {
  const folder = join(ROOT, "tests", name);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".test.mjs")).toSorted();
  if (files.length === 0) throw new Failure(`There are no tests in ${folder}`);
  const report = await freshReport(name);
  const reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  const junit = ["--test-reporter=junit", `--test-reporter-destination=${report}`];
  const paths = files.map((file) => join(folder, file));
  const code = await run([process.execPath, "--test", ...flags, ...reporters, ...junit, ...paths]);
  return outcome(report, code);
}

/** @param {string} name @returns {Promise<string>} where the report goes; an older one is taken away */
async function freshReport(name) {
  const report = join(REPORTS, `${name}.xml`);
  await mkdir(REPORTS, { recursive: true });
  await rm(report, { force: true });
  return report;
}

/**
 * Count what a JUnit report holds. An exit code that says "failed" is believed even if no single test says so.
 *
 * @param {string} report
 * @param {number} code
 * @returns {Promise<Outcome>}
 */
async function outcome(report, code) {
  const text = await readFile(report, "utf8").catch(() => "");
  const tests = text.match(/<testcase\b/g)?.length ?? 0;
  const failed = text.match(/<(failure|error)\b/g)?.length ?? 0;
  return { passed: Math.max(0, tests - failed), failed: code === 0 ? failed : Math.max(1, failed) };
}
