/**
 * `npm test [-- LAYER …]`: runs all layers of the test suite, or the named ones, and says at the end what came of each. `npm run test:deep`
 * runs the layer that a release needs beside them.
 *
 * A layer that fails does not keep the later ones from running. The last line is the sum.
 */

import { bold, Failure, green, main, red, seconds } from "./lib/console.mjs";
import { DEEP, LAYERS } from "./lib/layers.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  const layers = chosenLayers(process.argv.slice(2));
  await setUp();
  /** @type {string[]} */
  const lines = [];
  const sum = { passed: 0, failed: 0 };
  for (const layer of layers) {
    console.log(bold(`\n=== ${layer.name}`));
    const since = Date.now();
    const { passed, failed } = await layer.run().catch((error) => {
      console.error(error instanceof Failure ? error.message : error);
      return { passed: 0, failed: 1 };
    });
    sum.passed += passed;
    sum.failed += failed;
    const mark = failed === 0 ? green("ok    ") : red("FAILED");
    lines.push(`${mark} ${layer.name.padEnd(10)} ${passed} passed, ${failed} failed, ${seconds(since)}`);
  }
  console.log(`\n${lines.join("\n")}\n\n${sum.passed} passed, ${sum.failed} failed`);
  return sum.failed === 0 ? 0 : 1;
});

/** @param {string[]} names */
function chosenLayers(names) {
  const all = [...LAYERS, DEEP];
  const unknown = names.find((name) => !all.some((layer) => layer.name === name));
  if (unknown !== undefined) {
    throw new Failure(`There is no layer ${unknown}; there are ${all.map((layer) => layer.name).join(", ")}`);
  }
  return names.length === 0 ? LAYERS : all.filter((layer) => names.includes(layer.name));
}
