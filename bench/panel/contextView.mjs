/**
 * `npm run bench -- context [MESSAGES …]`: the context view of a real server in the built panel, from the click on the gauge's number to the
 * drawn view. Writes CONTEXT.md.
 *
 * The session has calls and results as `bench/sessions.py` makes them, all of it in view. What VS Code itself takes to hand the messages over is
 * not in it: the page asks the server through the browser's own wire, which is slower.
 */

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { main } from "../../scripts/lib/console.mjs";
import { buildExtension } from "../../scripts/lib/extension.mjs";
import { EXTENSION, ROOT } from "../../scripts/lib/paths.mjs";
import { setUp } from "../../scripts/setup.mjs";
import { launchBrowser } from "../../tests/e2e/harness/browser.mjs";
import { openPanel } from "./measures.mjs";
import { servePages } from "./pages.mjs";
import { withWork } from "./work.mjs";

const FILE = fileURLToPath(new URL("../CONTEXT.md", import.meta.url));
const SIZES = [1_000, 10_000];
/** How often it is opened once it was. */
const AGAIN = 10;
const PYTHON = join(ROOT, ".venv", "bin", "python");

/** Fills the folder of a workspace with a session. */
const FILLING = `
import sys
from pathlib import Path
from bench.growth import fill
from ullage.store.folder import folder_of
fill(folder_of(Path(sys.argv[1]), Path(sys.argv[2])), int(sys.argv[3]))
`;

/**
 * @typedef {object} Opened milliseconds
 * @property {number} drawn from the click to the frame with its rows
 * @property {number} answer of which the server's answer took, with its wire
 * @property {number} characters of that answer
 */

/** @typedef {{messages: number, parts: number, first: Opened, again: Opened[], longest: number}} Measured */

await main(async () => {
  await setUp();
  await buildExtension();
  const sizes = process.argv.slice(2).map(Number);
  const load = loadavg()[0] ?? 0;
  const pages = await servePages({ now: join(EXTENSION, "dist") });
  const browser = await launchBrowser();
  try {
    /** @type {Measured[]} */
    const all = [];
    for (const messages of sizes.length > 0 ? sizes : SIZES) all.push(await measured(browser, pages.urlOf("now"), messages));
    const machine = `${cpus().length} cores, load average ${load.toFixed(1)} before and ${(loadavg()[0] ?? 0).toFixed(1)} after`;
    await writeFile(FILE, report(all, machine));
    console.log(`${FILE} is written`);
  } finally {
    await browser.close();
    pages.stop();
  }
  return 0;
});

/** @param {import("playwright-core").Browser} browser @param {string} url @param {number} messages @returns {Promise<Measured>} */
async function measured(browser, url, messages) {
  const base = await mkdtemp(join(tmpdir(), "ullage-bench-"));
  const [folder, state] = [join(base, "workspace"), join(base, "state")];
  await mkdir(folder);
  await run(PYTHON, ["-c", FILLING, folder, state, String(messages)]);
  const server = await startServer(folder, state);
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  try {
    const snapshot = await server.ask("ullage/session/open", {});
    const { sessionId } = snapshot;
    let answered = { answer: 0, characters: 0 };
    await page.exposeFunction("askServer", async (/** @type {string} */ method, /** @type {object} */ params) => {
      const since = performance.now();
      const result = await server.ask(method, { ...params, sessionId });
      if (method === "ullage/session/context") answered = { answer: performance.now() - since, characters: JSON.stringify(result).length };
      return result;
    });
    await openPanel(page, url, snapshot);
    await page.evaluate(() => {
      probe.fromPanel = (/** @type {any} */ { type, id, method, params }) => {
        if (type !== "request") return;
        askServer(method, params).then((/** @type {unknown} */ result) => probe.send({ type: "response", id, result }));
      };
    });
    const open = async () => ({ drawn: await page.evaluate(clicked), ...answered });
    const first = await open();
    /** @type {Opened[]} */
    const again = [];
    const [, { longest }] = await withWork(page, async () => {
      for (let times = 0; times < AGAIN; times += 1) again.push(await open());
    });
    const { total } = await server.ask("ullage/session/context", { sessionId });
    return { messages, parts: total, first, again, longest };
  } finally {
    await page.close();
    await server.stop();
    await rm(base, { recursive: true, force: true });
  }
}

/** In the page: closes the view if it is open, clicks the gauge's number, and gives how long it took until its rows were drawn. */
async function clicked() {
  const page = probe.page();
  page.querySelector(".sheet:not([hidden]) .sheet-head button")?.click();
  while (page.querySelector(".part-row") !== null) await new Promise((done) => setTimeout(done));
  const since = performance.now();
  page.querySelector("button.meter").click();
  while (page.querySelector(".part-row .number") === null || page.querySelector(".tile") === null)
    await new Promise((done) => setTimeout(done));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - since;
}

/** @param {string} folder @param {string} state */
async function startServer(folder, state) {
  const child = spawn(PYTHON, ["-m", "ullage", "serve"], { stdio: ["pipe", "pipe", "ignore"] });
  const connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  connection.onRequest("workspace/configuration", () => [{ store: { location: state }, model: { provider: "practice" } }]);
  connection.onRequest(() => null);
  connection.onNotification(() => undefined);
  connection.listen();
  const uri = pathToFileURL(folder).href;
  await connection.sendRequest("initialize", {
    ...{ processId: null, rootUri: uri, workspaceFolders: [{ uri, name: "workspace" }] },
    capabilities: { workspace: { configuration: true, workspaceFolders: true } },
    initializationOptions: { stateFolder: state },
  });
  await connection.sendNotification("initialized", {});
  return {
    /** @param {string} method @param {object} params @returns {Promise<any>} */
    ask: (method, params) => connection.sendRequest(method, params),
    stop: async () => {
      const ended = new Promise((done) => child.once("exit", done));
      child.stdin.end();
      await ended;
      connection.dispose();
    },
  };
}

/** @param {string} program @param {string[]} words @returns {Promise<void>} */
function run(program, words) {
  return new Promise((done, failed) => {
    const child = spawn(program, words, { stdio: "inherit", cwd: ROOT });
    child.once("exit", (code) => (code === 0 ? done() : failed(new Error(`${program} ended with ${code}`))));
  });
}

/** @param {Measured[]} all @param {string} machine */
function report(all, machine) {
  const rows = all.map(({ messages, parts, first, again, longest }) => [
    ...[number(messages), number(parts), number(first.drawn), number(first.answer)],
    ...[number(median(again.map(({ drawn }) => drawn))), number(median(again.map(({ answer }) => answer)))],
    ...[
      number(median(again.map(({ drawn, answer }) => drawn - answer))),
      `${number((again[0]?.characters ?? 0) / 1000)} kB`,
      number(longest),
    ],
  ]);
  const head = ["messages in view", "parts", "first", "its answer", "again", "its answer", "the rest", "answer", "longest task"];
  return [
    "# The context view",
    "",
    "Written by `npm run bench -- context`: figures to look at, from one run on one machine. A real server, the built panel in a browser; from the",
    "click on the gauge's number to the frame that shows picture and rows. Milliseconds; medians where it was opened again.",
    "",
    `${new Date().toISOString().slice(0, 10)}, ${machine}.`,
    "",
    ...[head, ["---:", ...head.slice(1).map(() => "---:")], ...rows].map((line) => `| ${line.join(" | ")} |`),
    "",
    "*first*: the first time in a session that was just opened, while its parts are counted in the background. *the rest*: handing over and drawing. *longest task*: of",
    "the page's main thread, in CPU time.",
    "",
  ].join("\n");
}

/** @param {number} value */
function number(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** @param {number[]} values */
function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
