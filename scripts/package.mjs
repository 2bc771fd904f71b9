/**
 * `npm run package [-- TARGET …]`: makes the .vsix files that people install: one for each system with the wheels of all that the server needs, and
 * one without them for every other (`universal`). With names it makes those alone.
 *
 * A system for which a package has no wheel is named, and the exit code says so. The others are made all the same.
 */

import { stat } from "node:fs/promises";
import { relative } from "node:path";
import { Failure, main, red } from "./lib/console.mjs";
import { NoWheels, packageExtension, TARGETS } from "./lib/extension.mjs";
import { ROOT } from "./lib/paths.mjs";
import { setUp } from "./setup.mjs";

const UNIVERSAL = "universal";

await main(async () => {
  const named = process.argv.slice(2);
  const unknown = named.find((name) => name !== UNIVERSAL && !TARGETS.includes(name));
  if (unknown !== undefined) throw new Failure(`There is no target ${unknown}; there are ${[UNIVERSAL, ...TARGETS].join(", ")}`);
  await setUp();
  let code = 0;
  for (const target of named.length > 0 ? named : [UNIVERSAL, ...TARGETS]) {
    try {
      const path = await packageExtension(target === UNIVERSAL ? {} : { target });
      console.log(`${relative(ROOT, path)}  ${((await stat(path)).size / 1e6).toFixed(1)} MB`);
    } catch (error) {
      if (!(error instanceof NoWheels)) throw error;
      console.log(red(error.message));
      code = 1;
    }
  }
  return code;
});
