/** `npm run check`: format, lint and types of both languages. Goes on after a failure, so that one run shows them all. */

import { bold, green, main, red, seconds } from "./lib/console.mjs";
import { CHECKS } from "./lib/checks.mjs";
import { run } from "./lib/processes.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  /** @type {string[]} */
  const failed = [];
  for (const { title, command } of CHECKS) {
    const since = Date.now();
    console.log(bold(`· ${title}`));
    if ((await run(command)) !== 0) failed.push(title);
    console.log(`  ${seconds(since)}`);
  }
  console.log(failed.length === 0 ? green("All checks passed") : red(`Failed: ${failed.join(", ")}`));
  return failed.length === 0 ? 0 : 1;
});
