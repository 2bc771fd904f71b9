/**
 * `npm run bench [-- MESSAGES …]`: how long the server takes, with sessions of so many messages.
 * `npm run bench -- growth [MESSAGES …]`: what opening, a turn and a compaction cost as a session grows.
 * `npm run bench -- peers`: how long the pipeline takes, beside peers, each in an environment of its own (made at the first run).
 * `npm run bench -- start`: the extension until it is activated, and the server until a session is open.
 * `npm run bench -- policies [POLICY …]`: what each policy costs and keeps, over ../shared/traces or, without them, generated sessions.
 * `npm run bench -- cluster [SESSIONS]`: replay over workers of Dask on this machine, beside one process.
 * `npm run bench -- scale [measure]`: the tables of docs/scale.md, or their inputs again.
 * `npm run bench -- panel [--beside DIST] [CONTENT …]`: the panel in a browser, streaming, scrolling and after a reload.
 * `npm run bench -- context [MESSAGES …]`: the context view, from the click to the drawn view, with a real server.
 */

import { join } from "node:path";
import { main } from "./lib/console.mjs";
import { buildExtension } from "./lib/extension.mjs";
import { ROOT, VENV_PYTHON } from "./lib/paths.mjs";
import { run } from "./lib/processes.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  const [what, ...rest] = process.argv.slice(2);
  if (what === "panel") return run([process.execPath, join(ROOT, "bench", "panel", "main.mjs"), ...rest]);
  if (what === "context") return run([process.execPath, join(ROOT, "bench", "panel", "contextView.mjs"), ...rest]);
  if (what === "start") await buildExtension();
  return run([VENV_PYTHON, "-m", "bench", ...process.argv.slice(2)]);
});
