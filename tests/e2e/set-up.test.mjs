/** Which Python the environment of the tests is made with. */

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import test from "node:test";
import { findPythons } from "../../scripts/lib/python.mjs";

/** @param {string} version @param {string} path @param {number} seconds */
const says = (version, path, seconds) => `echo '[[${version.replaceAll(".", ",")}],"${path}",${seconds}]'`;

/**
 * What is found where each folder of PATH has these programs, by the name of each what its script does.
 *
 * @param {import("node:test").TestContext} t
 * @param {Record<string, string>[]} folders
 */
async function found(t, ...folders) {
  const parent = await mkdtemp(join(tmpdir(), "ullage-pythons-"));
  t.after(() => rm(parent, { recursive: true }));
  const places = await Promise.all(
    folders.map(async (programs, number) => {
      const place = join(parent, String(number));
      await mkdir(place);
      for (const [name, script] of Object.entries(programs)) await writeFile(join(place, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return place;
    }),
  );
  return findPythons(places.join(delimiter));
}

const onWindows = { skip: process.platform === "win32" && "the programs here are scripts of a shell" };

void test("the newest comes first, unless another is much quicker, and one that is there twice counts once", onWindows, async (t) => {
  const newest = { "python3.13": says("3.13.0", "/new", 1.0) };
  assert.deepEqual(await found(t, { python3: says("3.11.2", "/old", 0.9) }, newest), ["/new", "/old"]);
  assert.deepEqual(await found(t, { python3: says("3.11.2", "/old", 0.8) }, newest), ["/old", "/new"]);
  const old = says("3.11.2", "/old", 1.0);
  assert.deepEqual(await found(t, { python3: old, python: old }, { python3: old }), ["/old"]);
});

void test("what complains and then answers is taken, and what does not answer is passed over", onWindows, async (t) => {
  const complains = `echo a warning >&2; ${says("3.12.1", "/good", 1.0)}`;
  assert.deepEqual(await found(t, { "python3.13": "exit 127", "python3.12": complains, python3: "echo hello" }), ["/good"]);
});

void test("where all are too old, each is named with its version", onWindows, async (t) => {
  await assert.rejects(found(t, { python3: says("3.9.2", "/old", 1.0) }), /Ullage needs Python 3\.11 or newer: .*python3 is 3\.9\.2\./);
  await assert.rejects(found(t, {}), /no Python was found on the PATH/);
});
