/** A PostgreSQL of the tests' own (tests/postgres.py), as a process beside VS Code, with the tables of Ullage and a member `ann`. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { ROOT, VENV_PYTHON } from "../../../scripts/lib/paths.mjs";

/**
 * @typedef {object} Postgres
 * @property {string} url of the member
 * @property {() => Promise<void>} halt ends it in order, with all connections
 * @property {() => Promise<void>} goOn starts it again, with all that was in it
 * @property {() => Promise<void>} end ends it and takes its data away
 */

/**
 * @returns {Promise<Postgres | string>} why there is none, where it cannot be had here
 * @throws Error in CI on Linux, where it has to be there
 */
export async function startPostgres() {
  const child = spawn(VENV_PYTHON, ["-m", "tests.postgres"], { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "close");
  const lines = createInterface(child.stdout);
  const said = async () => {
    const line = await Promise.race([once(lines, "line"), exited.then(() => undefined)]);
    if (line === undefined) throw new Error("The process of PostgreSQL ended before it answered");
    return JSON.parse(String(line[0]));
  };
  const told = async (/** @type {string} */ what) => {
    const answer = said();
    child.stdin.write(`${what}\n`);
    await answer;
  };
  const { url, none } = await said();
  if (none !== undefined) {
    if (process.env["CI"] && process.platform === "linux") throw new Error(none);
    return String(none);
  }
  return {
    url,
    halt: () => told("stop"),
    goOn: () => told("start"),
    end: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
