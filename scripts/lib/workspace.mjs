/** Working copies of sample projects: Ullage edits what it is opened on, and the samples stay as they are. */

import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SAMPLE_WORKSPACE, STATE } from "./paths.mjs";
import { capture } from "./processes.mjs";

/**
 * A fresh copy of the sample workspace, under git if git is there. Copies of earlier runs that have ended are taken away.
 *
 * @returns {Promise<string>} its folder
 */
export async function copySampleWorkspace() {
  const copies = join(STATE, "workspaces");
  await mkdir(copies, { recursive: true });
  for (const name of await readdir(copies)) {
    if (!isRunning(Number(name))) await rm(join(copies, name), { recursive: true, force: true });
  }
  const folder = join(copies, String(process.pid), "tankgauge");
  await copyWorkspace(SAMPLE_WORKSPACE, folder);
  return folder;
}

/**
 * Copy a project, without what running it made, and put the copy under git if git is there.
 *
 * @param {string} source
 * @param {string} folder where the copy goes; what was there is taken away
 */
export async function copyWorkspace(source, folder) {
  await rm(folder, { recursive: true, force: true });
  await cp(source, folder, { recursive: true, filter: (path) => !/[\\/](__pycache__|\.ullage)$/.test(path) });
  if (existsSync(join(folder, ".git"))) return;
  const who = ["-c", "user.name=Ullage", "-c", "user.email=sample@ullage.invalid", "-c", "commit.gpgsign=false"];
  // Without git the project works as well; so nothing is said if one of these fails.
  await capture(["git", "init", "--quiet", "--initial-branch=main"], { cwd: folder });
  await capture(["git", "add", "--all"], { cwd: folder });
  await capture(["git", ...who, "commit", "--quiet", "--message", "Sample project"], { cwd: folder });
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
