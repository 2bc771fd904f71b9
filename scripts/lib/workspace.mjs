/** Working copies of sample projects: Ullage edits what it is opened on, and the samples stay as they are. */

import { cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SAMPLE_WORKSPACE, STATE } from "./paths.mjs";
import { capture } from "./processes.mjs";

/**
 * The newest copy of the sample workspace, with what was tried and said in it; where there is none yet, or a fresh one is wanted, a new one
 * beside the others. No copy is taken away: somebody may have it open, or want it back.
 *
 * @param {object} [wanted]
 * @param {boolean} [wanted.fresh]
 * @param {string} [wanted.copies] the folder of all copies, each in a folder with a number
 * @returns {Promise<{folder: string, isNew: boolean}>}
 */
export async function copySampleWorkspace({ fresh = false, copies = join(STATE, "workspaces") } = {}) {
  await mkdir(copies, { recursive: true });
  const newest = Math.max(0, ...(await readdir(copies)).filter((name) => /^\d+$/.test(name)).map(Number));
  if (newest > 0 && !fresh) return { folder: join(copies, String(newest), "tankgauge"), isNew: false };
  const begun = join(copies, `begun-${process.pid}`);
  await copyWorkspace(SAMPLE_WORKSPACE, join(begun, "tankgauge"));
  const made = join(copies, String(newest + 1));
  await rename(begun, made);
  return { folder: join(made, "tankgauge"), isNew: true };
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
