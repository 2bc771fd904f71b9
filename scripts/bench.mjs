/**
 * `npm run bench [-- MESSAGES …]`: how long the server takes, with sessions of so many messages.
 * `npm run bench -- growth [MESSAGES …]`: what opening, a turn and a compaction cost as a session grows.
 * `npm run bench -- peers`: how long the pipeline takes, beside peers, each in an environment of its own (made at the first run).
 * `npm run bench -- policies [POLICY …]`: what each policy costs and keeps, over ../shared/traces or, without them, generated sessions.
 */

import { main } from "./lib/console.mjs";
import { VENV_PYTHON } from "./lib/paths.mjs";
import { run } from "./lib/processes.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  return run([VENV_PYTHON, "-m", "bench", ...process.argv.slice(2)]);
});
