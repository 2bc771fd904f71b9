/** Starting other programs: in the foreground, quietly, or as a tree that is ended as a whole. */

import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { getPriority, setPriority } from "node:os";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "./paths.mjs";
import { Failure } from "./console.mjs";

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] working directory, the root of the repository if left out
 * @property {NodeJS.ProcessEnv} [env] environment, ours if left out
 */

/**
 * @typedef {object} Beside how a program runs beside others
 * @property {string} label stands before each line that it prints
 * @property {number} nice how far it gives way to the others, with all that it starts: 0 not at all, 19 as far as can be
 */

/**
 * Run a program with our own terminal, or beside others. Gives its exit code; 127 if it could not be started, 1 if a signal ended it.
 *
 * @param {string[]} command program and arguments
 * @param {RunOptions & {beside?: Beside}} [options]
 * @returns {Promise<number>}
 */
export function run(command, { beside, ...options } = {}) {
  const [program = "", ...rest] = command;
  return new Promise((done) => {
    const child = spawn(program, rest, { cwd: ROOT, ...options, stdio: beside ? ["ignore", "pipe", "pipe"] : "inherit" });
    if (beside) {
      if (child.pid !== undefined) setPriority(child.pid, Math.min(19, getPriority() + beside.nice));
      for (const [from, to] of /** @type {const} */ ([
        [child.stdout, process.stdout],
        [child.stderr, process.stderr],
      ])) {
        if (from) createInterface(from).on("line", (line) => to.write(`${beside.label} ${line}\n`));
      }
    }
    child.on("error", (error) => {
      console.error(`${program} could not be started: ${error.message}`);
      done(127);
    });
    child.on("close", (code) => done(code ?? 1));
  });
}

/**
 * Run a program without showing what it prints. Gives exit code and all output, both streams in the order they came.
 *
 * @param {string[]} command program and arguments
 * @param {RunOptions} [options]
 * @returns {Promise<{code: number, output: string}>}
 */
export function capture(command, options = {}) {
  const [program = "", ...rest] = command;
  return new Promise((done) => {
    let output = "";
    const child = spawn(program, rest, { cwd: ROOT, ...options, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => (output += text));
    child.on("error", (error) => done({ code: 127, output: `${program}: ${error.message}` }));
    child.on("close", (code) => done({ code: code ?? 1, output }));
  });
}

/**
 * Run a program that is expected to succeed, showing its output only if it does not.
 *
 * @param {string[]} command program and arguments
 * @param {RunOptions & {advice?: string}} [options] advice is what the user can do about a failure
 * @returns {Promise<string>} what it printed
 */
export async function quietly(command, { advice, ...options } = {}) {
  const { code, output } = await capture(command, options);
  if (code === 0) return output;
  const what = `\`${command.join(" ")}\` failed with exit code ${code}`;
  throw new Failure([output.trim(), what, advice].filter(Boolean).join("\n"));
}

/**
 * End a process group that we started (detached), politely first, and whatever else carries our mark.
 *
 * Programs such as VS Code's server start children of their own, some of which outlive them. All of them are in the group of the
 * first, or inherited the marked environment.
 *
 * @param {number} group process id of the group's first process
 * @param {string} mark "NAME=VALUE" that was put into the environment of the first process, and into no other
 */
export async function endTree(group, mark) {
  signalGroup(group, "SIGTERM");
  if (!(await gone(() => groupLives(group), 5_000))) signalGroup(group, "SIGKILL");
  for (const pid of await processesWith(mark)) signal(pid, "SIGTERM");
  const marked = async () => (await processesWith(mark)).length > 0;
  if (await gone(marked, 5_000)) return;
  for (const pid of await processesWith(mark)) signal(pid, "SIGKILL");
}

/**
 * Ids of the processes, other than this one, whose environment holds a mark. Only Linux can tell; elsewhere there are none.
 *
 * @param {string} mark "NAME=VALUE"
 * @returns {Promise<number[]>}
 */
export async function processesWith(mark) {
  if (process.platform !== "linux") return [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const carries = await Promise.all(
    pids.map(async (pid) => {
      // A process may end while we look, and those of other users are not ours to read.
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environment.split("\0").includes(mark);
    }),
  );
  return pids.filter((pid, index) => carries[index] && pid !== process.pid);
}

/**
 * Wait until a condition no longer holds.
 *
 * @param {() => boolean | Promise<boolean>} lives
 * @param {number} limit milliseconds
 * @returns {Promise<boolean>} whether it ended within the limit
 */
async function gone(lives, limit) {
  const until = Date.now() + limit;
  while (await lives()) {
    if (Date.now() > until) return false;
    await delay(50);
  }
  return true;
}

/** @param {number} group */
function groupLives(group) {
  return process.platform === "win32" ? signal(group, 0) : signal(-group, 0);
}

/** @param {number} group @param {NodeJS.Signals} name */
function signalGroup(group, name) {
  if (process.platform === "win32") spawn("taskkill", ["/pid", String(group), "/t", "/f"], { stdio: "ignore" });
  else signal(-group, name);
}

/** @param {number} pid @param {NodeJS.Signals | 0} name @returns {boolean} whether there was something to signal */
function signal(pid, name) {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
