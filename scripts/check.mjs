/**
 * `npm run check`: format, lint and types of both languages. Goes on after a failure, so that one run shows them all.
 *
 * The checks run side by side, as many as there are cores. Each says in one line how it went, and a failed one shows what it printed.
 */

import { availableParallelism } from "node:os";
import { bold, green, main, red, seconds } from "./lib/console.mjs";
import { CHECKS } from "./lib/checks.mjs";
import { capture } from "./lib/processes.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  const since = Date.now();
  const waiting = [...CHECKS];
  /** @type {string[]} */
  const failed = [];
  const lane = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      if (!(await passes(check))) failed.push(check.title);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  console.log(failed.length === 0 ? green(`All checks passed in ${seconds(since)}`) : red(`Failed: ${failed.join(", ")}`));
  return failed.length === 0 ? 0 : 1;
});

/** @param {import("./lib/checks.mjs").Check} check @returns {Promise<boolean>} */
async function passes({ title, command }) {
  const since = Date.now();
  const { code, output } = await capture(command);
  const took = `${title}, ${seconds(since)}`;
  console.log(code === 0 ? `${bold("·")} ${took}` : `${red("·")} ${red(took)}\n${output.trim()}\n`);
  return code === 0;
}
