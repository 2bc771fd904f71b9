/**
 * Programs that tests really run, and that are packages of the system, not of npm or PyPI: bubblewrap for the sandbox, Emacs for its page.
 *
 * A build server with Debian's packages gets them where they can be had. On somebody's own machine nothing is installed for the whole system: they
 * are told what is left out.
 */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bold, step } from "./console.mjs";
import { quietly } from "./processes.mjs";

/** @typedef {{program: string, package: string, leftOut: string, isNeeded: boolean}} SystemProgram */

/** @type {SystemProgram[]} */
const PROGRAMS = [
  { program: "bwrap", package: "bubblewrap", leftOut: "the tests that break out of the sandbox", isNeeded: true },
  { program: "emacs", package: "emacs-nox", leftOut: "the test of docs/editors/emacs.md", isNeeded: false },
];

/** @type {Promise<void> | undefined} */
let provided;

/** Sees to all of them, once. @throws where one that a build server needs cannot be had */
export function provideSystemPrograms() {
  return (provided ??= provide());
}

async function provide() {
  if (process.platform !== "linux") return;
  const missing = PROGRAMS.filter(({ program }) => !isOnPath(program));
  if (missing.length === 0) return;
  if (process.env["CI"] === undefined || process.getuid?.() !== 0 || !isOnPath("apt-get")) {
    for (const each of missing) console.log(bold(`${each.package} is not installed, so this is left out: ${each.leftOut}.`), advice(each));
    return;
  }
  for (const each of missing) {
    try {
      await step(`Installing ${each.package} from the system's packages`, async () => {
        await quietly(["apt-get", "update"], { advice: advice(each) });
        await quietly(["apt-get", "install", "--yes", "--no-install-recommends", each.package], { advice: advice(each) });
      });
    } catch (error) {
      if (each.isNeeded) throw error;
      console.log(bold(`${each.package} cannot be had, so this is left out: ${each.leftOut}.`), String(error));
    }
  }
}

/** @param {SystemProgram} program */
function advice(program) {
  return `To have it: apt-get install ${program.package}, or your system's package of that name.`;
}

/** @param {string} program */
function isOnPath(program) {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, program)));
}
