/** `npm run fix`: mends format and lint as far as a program can. */

import { bold, main } from "./lib/console.mjs";
import { FIXES } from "./lib/checks.mjs";
import { run } from "./lib/processes.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  let worst = 0;
  for (const { title, command } of FIXES) {
    console.log(bold(`· ${title}`));
    worst = Math.max(worst, await run(command));
  }
  return worst;
});
