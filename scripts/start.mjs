/**
 * `npm start [-- FOLDER] [--fresh] [--web] [--port N]`: opens VS Code with Ullage, on a copy of the sample workspace or on a folder of one's
 * own. The copy is that of the last time, unless a fresh one is wanted.
 *
 * A desktop VS Code is used where there is one, else VS Code for the browser is served on this machine's loopback address until Ctrl-C.
 */

import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bold, dim, Failure, main, step } from "./lib/console.mjs";
import { hasDesktopVsCode, openDesktopVsCode } from "./lib/desktop.mjs";
import { buildExtension, packageExtension } from "./lib/extension.mjs";
import { STATE, VENV_PYTHON } from "./lib/paths.mjs";
import { installExtension, startVsCodeWeb, vsCodeWeb } from "./lib/vscode-web.mjs";
import { copySampleWorkspace } from "./lib/workspace.mjs";
import { setUp } from "./setup.mjs";

const USUAL_PORT = 8080;

await main(async () => {
  const { folder: wanted, fresh, web, port } = readArguments();
  await setUp();
  const folder = wanted ?? (await sampleCopy(fresh));
  if (!web && (await hasDesktopVsCode())) return openOnDesktop(folder);
  return serve(folder, port);
});

/** @param {boolean} fresh */
async function sampleCopy(fresh) {
  const { folder, isNew } = await copySampleWorkspace({ fresh });
  if (!isNew) console.log("The sample project is as you left it; npm start -- --fresh begins with a new copy.");
  return folder;
}

/** @returns {{folder: string | undefined, fresh: boolean, web: boolean, port: number}} */
function readArguments() {
  const { values, positionals } = parsedArguments();
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Failure(`--port takes a number up to 65535, not ${values.port}`);
  const [named] = positionals;
  const { fresh, web } = values;
  if (named === undefined) return { folder: undefined, fresh, web, port };
  if (fresh) throw new Failure("--fresh is about the sample project, and takes no folder");
  // npm changes into the root of the repository; what the user typed is meant from where they were.
  const folder = resolve(process.env["INIT_CWD"] ?? ".", named);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new Failure(`There is no folder ${folder}`);
  return { folder, fresh, web, port };
}

function parsedArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        fresh: { type: "boolean", default: false },
        web: { type: "boolean", default: false },
        port: { type: "string", default: String(USUAL_PORT) },
      },
    });
  } catch (error) {
    throw new Failure(
      `${error instanceof Error ? error.message : String(error)}\nUsage: npm start -- [FOLDER | --fresh] [--web] [--port N]`,
    );
  }
}

/** @param {string} folder */
async function openOnDesktop(folder) {
  await buildExtension();
  console.log(`\nVS Code opens ${bold(folder)} with Ullage. This ends when you close its window.`);
  return openDesktopVsCode(folder);
}

/** @param {string} folder @param {number} port */
async function serve(folder, port) {
  const vsix = await packageExtension();
  const web = await vsCodeWeb();
  const place = { userData: join(STATE, "vscode-web", "user-data"), extensions: join(STATE, "vscode-web", "extensions") };
  const settings = { "ullage.server.interpreter": VENV_PYTHON };
  const stopped = stopSignal();
  const running = await step("Starting VS Code for the browser", async () => {
    await installExtension(web, place, vsix);
    return startVsCodeWeb(web, { folder, place, port, settings });
  });
  if (running.port !== port && port !== 0) console.log(`Port ${port} is in use, so it is on port ${running.port}.`);
  console.log(`\nVS Code with Ullage is open at  ${bold(running.url)}`);
  console.log(dim(`Folder: ${folder}\nLog:    ${running.log}\nCtrl-C ends it.`));
  const why = await Promise.race([stopped, running.ended.then(() => "ended")]);
  if (why === "ended") console.error(`VS Code ended by itself; what it printed is in ${running.log}`);
  else console.log("\nEnding VS Code …");
  await running.stop();
  return why === "ended" ? 1 : 0;
}

/**
 * Settles when we are asked to stop, and keeps a second request from cutting the clean-up short. That npm is gone counts as a request: it
 * may have been ended without telling us.
 *
 * @returns {Promise<string>}
 */
function stopSignal() {
  const parent = process.ppid;
  return new Promise((done) => {
    for (const name of /** @type {NodeJS.Signals[]} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(name, () => done(name));
    setInterval(() => process.ppid !== parent && done("orphaned"), 500).unref();
  });
}
