/** `npm run bench [-- MESSAGES …]`: how long the server takes, with sessions of so many messages. */

import { main } from "./lib/console.mjs";
import { VENV_PYTHON } from "./lib/paths.mjs";
import { run } from "./lib/processes.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  return run([VENV_PYTHON, "-m", "bench.latency", ...process.argv.slice(2)]);
});
