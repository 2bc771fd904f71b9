/** Calling npm: for the repository itself and for the tools that have a folder of their own. */

import { cp, mkdir, readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Failure } from "./console.mjs";
import { ROOT, STATE } from "./paths.mjs";
import { hashOf, once } from "./once.mjs";
import { quietly } from "./processes.mjs";

const ADVICE = "npm needs a registry: look at your network and at `npm config get registry`, then try again";

/** Install what the repository's own package-lock.json names. */
export async function installRootPackages() {
  const files = ["package.json", "package-lock.json", ".npmrc", "client-extension/package.json"];
  await once(
    {
      name: "npm",
      title: "Installing the JavaScript tools from package-lock.json",
      key: await hashOf(
        files.map((file) => join(ROOT, file)),
        [process.version],
      ),
      makes: join(ROOT, "node_modules"),
    },
    async () => {
      await requireFittingLock();
      await installLocked(ROOT);
    },
  );
}

/**
 * Install a tool of scripts/tools/ from its lock into a folder of its own, if it is not there yet.
 *
 * Tools that few need, or that need another Node than the user's, are kept out of the main install.
 *
 * @param {string} name folder in scripts/tools/
 * @param {object} how
 * @param {string} how.title what is shown while it is installed
 * @param {string} [how.node] the Node that runs npm, which checks what each package asks for; ours if left out
 * @param {(folder: string) => Promise<void>} [how.finish] what is to be done once the packages are there
 * @returns {Promise<string>} the folder, which has the packages in its node_modules
 */
export async function installTool(name, { title, node = process.execPath, finish }) {
  const source = join(ROOT, "scripts", "tools", name);
  const folder = join(STATE, "tools", name);
  const what = { name: `tool-${name}`, title, key: await hashOf([source], [process.platform, process.arch]), makes: folder };
  await once(what, async () => {
    await mkdir(folder, { recursive: true });
    await cp(source, folder, { recursive: true });
    await cp(join(ROOT, ".npmrc"), join(folder, ".npmrc"));
    await installLocked(folder, node);
    await finish?.(folder);
  });
  return folder;
}

/**
 * Install what the lock of a folder names, leaving the lock as it is. Nothing that a package brings is run.
 *
 * `npm ci` would do the same, but refuses locks that leave out a platform for which the registry had no package when they were made.
 *
 * @param {string} folder
 * @param {string} [node]
 */
export async function installLocked(folder, node = process.execPath) {
  const scope = folder === ROOT ? "--include=dev" : "--omit=dev";
  await quietly([...npm(node), "install", "--no-save", "--ignore-scripts", scope, "--loglevel=error"], {
    cwd: folder,
    env: { ...process.env, PATH: [dirname(node), process.env["PATH"]].join(delimiter) },
    advice: ADVICE,
  });
}

/** Write the lock of a folder from its package.json, installing nothing. @param {string} folder */
export async function lockPackages(folder) {
  await quietly([...npm(process.execPath), "install", "--package-lock-only", "--loglevel=error"], { cwd: folder, advice: ADVICE });
}

/** Without this a package.json that was edited by hand would be installed past the lock. */
async function requireFittingLock() {
  const lock = await readJson("package-lock.json");
  for (const folder of ["", "client-extension"]) {
    const manifest = await readJson(join(folder, "package.json"));
    for (const kind of ["dependencies", "devDependencies"]) {
      if (isDeepStrictEqual(manifest[kind] ?? {}, lock.packages[folder]?.[kind] ?? {})) continue;
      throw new Failure(`package-lock.json does not fit the ${kind} of ${join(folder, "package.json")}: run \`npm run lock\``);
    }
  }
}

/** @param {string} path in the repository */
async function readJson(path) {
  return JSON.parse(await readFile(join(ROOT, path), "utf8"));
}

/** npm tells the scripts that it runs where its own program is. @param {string} node @returns {string[]} */
function npm(node) {
  const program = process.env["npm_execpath"];
  return program?.endsWith(".js") ? [node, program] : ["npm"];
}
