/** The layers of the test suite: what each runs, and what came of it. */

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { provideMcpServers } from "./mcpServers.mjs";
import { provideSystemPrograms } from "./systemPrograms.mjs";
import { PYRIGHT } from "./checks.mjs";
import { Failure } from "./console.mjs";
import { withTemporary } from "./memory.mjs";
import { node24 } from "./node24.mjs";
import { ROOT, STATE, VENV_PYTHON } from "./paths.mjs";
import { run } from "./processes.mjs";

/**
 * @typedef {object} Outcome
 * @property {number} passed tests that passed
 * @property {number} failed tests that failed; at least one if the layer could not run to its end
 * @property {string[]} failures each failed test by name, with the first lines of its message
 */

/** @typedef {import("./processes.mjs").Beside} Beside */

/** @typedef {{name: string, run: (beside?: Beside) => Promise<Outcome>}} Layer alone, or beside another */

const REPORTS = join(STATE, "reports");

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

/** Node itself leaves a core alone: on two, one file would run after the other. The flag came with 20.10. @type {string[]} */
const ON_ALL_CORES = major > 20 || minor >= 10 ? [`--test-concurrency=${availableParallelism()}`] : [];

/** Files of tests of the extension that share a process. */
const SHARING = 7;

/** The longest, and one window after the other: it leaves a core to those that run beside it. @type {Layer} */
export const E2E = { name: "e2e", run: endToEnd };

/** In the order in which they run: the quick ones first. @type {Layer[]} */
export const LAYERS = [{ name: "check", run: checks }, { name: "extension", run: extension }, { name: "python", run: python }, E2E];

/** What a release needs beside them; `npm test` runs a sample of it. @type {Layer[]} */
export const DEEP = [
  { name: "types", run: types },
  { name: "deep", run: deep },
];

/** The checks count as one test. @param {Beside} [beside] @returns {Promise<Outcome>} */
async function checks(beside) {
  return asOneTest([process.execPath, join(ROOT, "scripts", "check.mjs")], beside);
}

/** The types of Python as pyright sees them, which takes too long for every day. @param {Beside} [beside] @returns {Promise<Outcome>} */
async function types(beside) {
  return asOneTest(PYRIGHT, beside);
}

/** @param {string[]} command @param {Beside} [beside] @returns {Promise<Outcome>} */
async function asOneTest(command, beside) {
  const code = await run(command, { beside });
  return code === 0 ? { passed: 1, failed: 0, failures: [] } : { passed: 0, failed: 1, failures: [] };
}

/** @param {Beside} [beside] @returns {Promise<Outcome>} */
async function python(beside) {
  return pythonTests("python", [], {}, beside);
}

/**
 * The long form of the tests that bear the marker `deep`, and of all that Hypothesis runs: one test may take an hour.
 *
 * @param {Beside} [beside]
 * @returns {Promise<Outcome>}
 */
async function deep(beside) {
  return pythonTests("deep", ["-m", "deep or hypothesis", "--timeout=3600"], { ULLAGE_DEEP: "1" }, beside);
}

/**
 * One process more than there are cores: the tests share nothing but the machine, and wait a third of their time for files, sockets and programs.
 *
 * Some environments forbid Python to keep what it compiles. Each of the many processes that the tests start would then compile the server
 * anew, so here that is allowed.
 *
 * @param {string} name @param {string[]} flags @param {NodeJS.ProcessEnv} more @param {Beside} [beside]
 * @returns {Promise<Outcome>}
 */
async function pythonTests(name, flags, more, beside) {
  await Promise.all([provideSystemPrograms(), provideMcpServers()]);
  const report = await freshReport(name);
  const workers = ["-n", String(availableParallelism() + 1), "--dist", "worksteal"];
  const command = [VENV_PYTHON, "-m", "pytest", "-q", ...workers, ...flags, `--junitxml=${report}`, "tests/unit", "tests/server"];
  return withTemporary(async (temporary) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "", ...temporary, ...more };
    return outcome(report, await run(command, { env, beside }));
  });
}

/**
 * Node 20 does not read TypeScript, so the tests are bundled with what they test. Each file has a process of its own, but for those that draw: they
 * share a few, since jsdom takes longer to load than most of them take. They run in a Node as new as that of VS Code where one can be had: it
 * takes a seventh less of the processor for them.
 *
 * @param {Beside} [beside]
 * @returns {Promise<Outcome>}
 */
async function extension(beside) {
  const sources = await testFiles("extension", ".test.ts");
  const bundles = join(STATE, "extension-tests");
  await rm(bundles, { recursive: true, force: true });
  await mkdir(bundles, { recursive: true });
  const draws = await Promise.all(sources.map(async (path) => /"\.\/(dom|composing)"/.test(await readFile(path, "utf8"))));
  const entries = sources.filter((_, at) => !draws[at]).map((path) => ({ in: path, out: basename(path, ".ts") }));
  const drawing = sources.filter((_, at) => draws[at]);
  for (let from = 0; from < drawing.length; from += SHARING) {
    const path = join(bundles, `drawing-${from}.ts`);
    const imports = drawing.slice(from, from + SHARING).map((each) => `import ${JSON.stringify(each)};\n`);
    await writeFile(path, imports.join(""));
    entries.push({ in: path, out: `drawing-${from}` });
  }
  const { build } = await import("esbuild");
  await build({
    entryPoints: entries,
    outdir: bundles,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
  });
  return nodeTests(
    "extension",
    [await node24().catch(() => process.execPath), "--test", "--enable-source-maps", ...ON_ALL_CORES],
    entries.map(({ out }) => join(bundles, `${out}.mjs`)),
    { beside },
  );
}

/**
 * One process for all files, so that they share VS Code and the browser. Scenarios side by side would wait for one another: a window that
 * opens takes both of two cores. Python may keep what it compiles, as above: each window starts a server. Beside other layers it takes no
 * pictures.
 *
 * @param {Beside} [beside]
 * @returns {Promise<Outcome>}
 */
async function endToEnd(beside) {
  return withTemporary((temporary) => {
    const pictures = beside === undefined ? {} : { ULLAGE_PICTURES: "0" };
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "", ...pictures, ...temporary };
    return nodeTests("e2e", [process.execPath, "--test"], [join(ROOT, "tests", "e2e", "all.mjs")], { beside, env });
  });
}

/**
 * @param {string} name @param {string[]} node how it is started, with its flags @param {string[]} files
 * @param {import("./processes.mjs").RunOptions & {beside?: Beside | undefined}} options
 * @returns {Promise<Outcome>}
 */
async function nodeTests(name, node, files, options) {
  const report = await freshReport(name);
  const reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  const junit = ["--test-reporter=junit", `--test-reporter-destination=${report}`];
  const code = await run([...node, ...reporters, ...junit, ...files], options);
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
 * Read what a JUnit report holds. An exit code that says "failed" is believed even if no single test says so.
 *
 * @param {string} report
 * @param {number} code
 * @returns {Promise<Outcome>}
 */
async function outcome(report, code) {
  const text = await readFile(report, "utf8").catch(() => "");
  const tests = text.match(/<testcase\b/g)?.length ?? 0;
  const failed = text.match(/<(failure|error)\b/g)?.length ?? 0;
  return { passed: Math.max(0, tests - failed), failed: code === 0 ? failed : Math.max(1, failed), failures: failuresIn(text) };
}

/** Lines of a failure's message that the end of the run repeats: a build server's record often keeps no more than its last lines. */
const LINES_SHOWN = 8;

/** @param {string} report JUnit, as pytest and Node write it @returns {string[]} */
function failuresIn(report) {
  // A test that passed has no end tag of its own or an empty body, so a failure belongs to the nearest test before it.
  const failures = report.matchAll(
    /<testcase\b[^>]*?\bname="([^"]*)"(?:(?!<testcase\b)[^])*?<(?:failure|error)\b((?:[^>"]|"[^"]*")*)>([^<]*)/g,
  );
  return [...failures].map(([, name = "", attributes = "", body = ""]) => {
    // Node takes the ends of lines out of the attribute and escapes a name twice; pytest's body begins with source text.
    const message = body.includes("ERR_TEST_FAILURE") ? body : (/\bmessage="([^"]*)"/.exec(attributes)?.[1] ?? body);
    return [plain(plain(name)), ...plain(message).trim().split("\n").slice(0, LINES_SHOWN)].join("\n    ");
  });
}

/** Text of XML without its escapes. @param {string} text */
function plain(text) {
  const named = new Map([
    ["lt", "<"],
    ["gt", ">"],
    ["quot", '"'],
    ["apos", "'"],
    ["amp", "&"],
  ]);
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return named.get(name) ?? whole;
    return String.fromCodePoint(decimal === undefined ? parseInt(hexadecimal, 16) : Number(decimal));
  });
}
