/** Bubblewrap, which the tests of the sandbox really run. It is a package of the system and not of npm or PyPI. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bold, step } from "./console.mjs";
import { quietly } from "./processes.mjs";

const ADVICE = "The tests of the sandbox need it: apt-get install bubblewrap, or your system's package of that name.";

/**
 * A build server gets it where it can be had. On somebody's own machine nothing is installed for the whole system: they are told what is left out.
 */
export async function provideBubblewrap() {
  if (process.platform !== "linux" || isOnPath("bwrap")) return;
  if (process.env["CI"] === undefined || process.getuid?.() !== 0 || !isOnPath("apt-get")) {
    console.log(bold("bubblewrap is not installed, so the tests that break out of the sandbox are left out."), ADVICE);
    return;
  }
  await step("Installing bubblewrap from the system's packages", async () => {
    await quietly(["apt-get", "update"], { advice: ADVICE });
    await quietly(["apt-get", "install", "--yes", "--no-install-recommends", "bubblewrap"], { advice: ADVICE });
  });
}

/** @param {string} program */
function isOnPath(program) {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, program)));
}
