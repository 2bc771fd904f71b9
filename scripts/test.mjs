/**
 * `npm test [-- LAYER …]`: runs all layers of the test suite, or the named ones, and says at the end what came of each. `npm run test:deep`
 * runs those that a release needs beside them.
 *
 * A layer that fails does not keep the later ones from running. The last line is the sum.
 *
 * The end-to-end tests wait for a window most of the time that they do not take a core. So the other layers run beside them, one after the
 * other, and give way to them: a window that is slow to open would be a failure, and a unit test that is slow is none.
 */

import { availableParallelism } from "node:os";
import { bold, Failure, green, main, red, seconds } from "./lib/console.mjs";
import { DEEP, E2E, LAYERS } from "./lib/layers.mjs";
import { provideMcpServers } from "./lib/mcpServers.mjs";
import { provideSystemPrograms } from "./lib/systemPrograms.mjs";
import { setUp } from "./setup.mjs";

await main(async () => {
  const layers = chosenLayers(process.argv.slice(2));
  await setUp();
  // Beside the first layers, which need none of them; the layer that does waits for it, and fails where it failed.
  if (layers.some(({ name }) => name === "python" || name === "deep")) {
    Promise.all([provideSystemPrograms(), provideMcpServers()]).catch(() => undefined);
  }
  const since = Date.now();
  const lanes = availableParallelism() > 1 ? [layers.filter((each) => each === E2E), layers.filter((each) => each !== E2E)] : [layers];
  const used = lanes.filter((lane) => lane.length > 0);
  const results = (await Promise.all(used.map((lane) => inTurn(lane, used.length > 1)))).flat();
  const sum = { passed: 0, failed: 0 };
  const lines = results.map(({ name, passed, failed, took }) => {
    sum.passed += passed;
    sum.failed += failed;
    const mark = failed === 0 ? green("ok    ") : red("FAILED");
    return `${mark} ${name.padEnd(10)} ${passed} passed, ${failed} failed, ${took}`;
  });
  const toRepeat = results.flatMap(({ name, failures }) => failures.map((failure) => `${red(name)}: ${failure}`));
  if (toRepeat.length > 0) console.log(`\n${toRepeat.join("\n")}`);
  console.log(`\n${lines.join("\n")}\nAll of it took ${seconds(since)}\n\n${sum.passed} passed, ${sum.failed} failed`);
  return sum.failed === 0 ? 0 : 1;
});

/**
 * One layer after the other.
 *
 * @param {import("./lib/layers.mjs").Layer[]} layers
 * @param {boolean} areBeside whether others run at the same time
 */
async function inTurn(layers, areBeside) {
  const results = [];
  for (const layer of layers) {
    console.log(bold(`\n=== ${layer.name}`));
    const since = Date.now();
    const beside = areBeside ? { label: `${layer.name.padEnd(9)} |`, nice: layer === E2E ? 0 : 10 } : undefined;
    const outcome = await layer.run(beside).catch((error) => {
      console.error(error instanceof Failure ? error.message : error);
      return { passed: 0, failed: 1, failures: [] };
    });
    results.push({ name: layer.name, ...outcome, took: seconds(since) });
  }
  return results;
}

/** @param {string[]} names */
function chosenLayers(names) {
  const all = [...LAYERS, ...DEEP];
  const unknown = names.find((name) => !all.some((layer) => layer.name === name));
  if (unknown !== undefined) {
    throw new Failure(`There is no layer ${unknown}; there are ${all.map((layer) => layer.name).join(", ")}`);
  }
  return names.length === 0 ? LAYERS : all.filter((layer) => names.includes(layer.name));
}
