/** The layers of the test suite: what each runs, and what came of it. */

import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { provideBubblewrap } from "./bubblewrap.mjs";
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
  { name: "extension", run: extension },
  { name: "e2e", run: endToEnd },
];

/** What a release needs beside them; `npm test` runs a sample of it. @type {Layer} */
export const DEEP = { name: "deep", run: deep };

/** The checks count as one test. @returns {Promise<Outcome>} */
async function checks() {
  const code = await run([process.execPath, join(ROOT, "scripts", "check.mjs")]);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** @returns {Promise<Outcome>} */
async function python() {
  return pythonTests("python", [], {});
}

/**
 * The long form of the tests that bear the marker `deep`, and of all that Hypothesis runs: one test may take an hour.
 *
 * @returns {Promise<Outcome>}
 */
async function deep() {
  return pythonTests("deep", ["-m", "deep or hypothesis", "--timeout=3600"], { ULLAGE_DEEP: "1" });
}

/**
 * A process for each core: the tests share nothing but the machine.
 *
 * Some environments forbid Python to keep what it compiles. Each of the many processes that the tests start would then compile the server
 * anew, so here that is allowed.
 *
 * @param {string} name @param {string[]} flags @param {NodeJS.ProcessEnv} more
 * @returns {Promise<Outcome>}
 */
async function pythonTests(name, flags, more) {
  await provideBubblewrap();
  const report = await freshReport(name);
  const workers = ["-n", "auto", "--dist", "worksteal"];
  const command = [VENV_PYTHON, "-m", "pytest", "-q", ...workers, ...flags, `--junitxml=${report}`, "tests/unit", "tests/server"];
  return outcome(report, await run(command, { env: { ...process.env, PYTHONDONTWRITEBYTECODE: "", ...more } }));
}

/** Node 20 does not read TypeScript, so the tests are bundled with what they test. @returns {Promise<Outcome>} */
async function extension() {
  const sources = await testFiles("extension", ".test.ts");
  const bundles = join(STATE, "extension-tests");
  await rm(bundles, { recursive: true, force: true });
  const { build } = await import("esbuild");
  await build({
    entryPoints: sources,
    outdir: bundles,
    outbase: join(ROOT, "tests", "extension"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
  });
  const written = sources.map((path) => relative(join(ROOT, "tests", "extension"), path).replace(/\.ts$/, ".mjs"));
  return nodeTests(
    "extension",
    ["--enable-source-maps"],
    written.map((path) => join(bundles, path)),
  );
}

/**
 * One process for all files, so that they share VS Code and the browser. These take a core each; scenarios side by side would only wait for
 * one another.
 *
 * @returns {Promise<Outcome>}
 */
async function endToEnd() {
  return nodeTests("e2e", [], [join(ROOT, "tests", "e2e", "all.mjs")]);
}

/** @param {string} name @param {string[]} flags @param {string[]} files @returns {Promise<Outcome>} */
async function nodeTests(name, flags, files) {
  const report = await freshReport(name);
  const reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  const junit = ["--test-reporter=junit", `--test-reporter-destination=${report}`];
  const code = await run([process.execPath, "--test", ...flags, ...reporters, ...junit, ...files]);
  return outcome(report, code);
}

/** @param {string} layer folder in tests/ @param {string} ending @returns {Promise<string[]>} */
async function testFiles(layer, ending) {
  const folder = join(ROOT, "tests", layer);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(ending)).toSorted();
  if (files.length === 0) throw new Failure(`There are no tests in ${folder}`);
  return files.map((file) => join(folder, file));
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
