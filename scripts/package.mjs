/** `npm run package`: makes the .vsix that people install. */

import { relative } from "node:path";
import { main } from "./lib/console.mjs";
import { packageExtension } from "./lib/extension.mjs";
import { ROOT } from "./lib/paths.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  console.log(relative(ROOT, await packageExtension()));
  return 0;
});
