/**
 * Steps that are done once and again only when what they depend on changed.
 *
 * A step leaves a stamp that holds the hash of what it depended on. The stamp is taken away before the step begins and written when it has
 * ended, so a step that was interrupted is done again. Two runs at the same time do not do the same step twice: the
 * second waits for the first.
 */

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT, STATE } from "./paths.mjs";
import { step } from "./console.mjs";

/**
 * @typedef {object} Step
 * @property {string} name file name of the stamp
 * @property {string} title what is shown while it runs
 * @property {string} key hash of everything that it depends on
 * @property {string} [makes] file or folder that must be there afterwards; if it is gone the step is done again
 */

/**
 * Do a step unless it was done for the same key.
 *
 * @param {Step} what
 * @param {() => Promise<void>} action
 * @returns {Promise<boolean>} whether it was done now
 */
export async function once(what, action) {
  if (await isDone(what)) return false;
  const release = await lock(what.name);
  try {
    if (await isDone(what)) return false;
    await rm(stamp(what.name), { force: true });
    await step(what.title, action);
    await writeFile(stamp(what.name), what.key);
    return true;
  } finally {
    await release();
  }
}

/**
 * One hash over files and folders (their paths and contents) and over plain values.
 *
 * @param {string[]} paths files or folders, which must exist; in folders, what is made (caches, dist) is left out
 * @param {string[]} [values]
 */
export async function hashOf(paths, values = []) {
  const hash = createHash("sha256");
  for (const value of values) hash.update(`${value}\0`);
  for (const path of paths) {
    for (const file of await filesOf(path)) {
      hash.update(`${relative(ROOT, file).split(sep).join("/")}\0`);
      hash.update(await readFile(file));
    }
  }
  return hash.digest("hex");
}

const MADE = new Set(["node_modules", "__pycache__", "dist", "dist-server"]);

/** @param {string} path @returns {Promise<string[]>} */
async function filesOf(path) {
  if (statSync(path).isFile()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  const kept = entries.filter((entry) => (entry.isDirectory() || entry.isFile()) && !MADE.has(entry.name));
  const paths = kept.map((entry) => join(path, entry.name)).toSorted();
  return (await Promise.all(paths.map(filesOf))).flat();
}

/** @param {Step} what */
async function isDone(what) {
  if (what.makes !== undefined && !existsSync(what.makes)) return false;
  const known = await readFile(stamp(what.name), "utf8").catch(() => "");
  return known === what.key;
}

/** @param {string} name */
function stamp(name) {
  return join(STATE, "stamps", name);
}

/** @param {string} name @returns {Promise<() => Promise<void>>} what gives the lock back */
async function lock(name) {
  const path = `${stamp(name)}.lock`;
  await mkdir(dirname(path), { recursive: true });
  for (let told = false; ; told = true) {
    try {
      await writeFile(path, String(process.pid), { flag: "wx" });
      return () => rm(path, { force: true });
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const owner = Number(await readFile(path, "utf8").catch(() => "0"));
    if (owner !== 0 && !lives(owner)) await rm(path, { force: true });
    else if (!told) console.log(`  waiting for process ${owner}, which is at the same step`);
    await delay(200);
  }
}

/** @param {number} pid */
function lives(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
