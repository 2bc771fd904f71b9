/**
 * `npm run generate`: writes again what is made from the server's own values, so that each of them stands in one place.
 *
 * - docs/protocol.schema.json, from the wire types
 * - in the manifest of the extension: the policies with their titles, and the default of `ullage.compaction.cap`
 * - tests/unit/context/policies/golden/: what each policy makes of a small history
 */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "./lib/console.mjs";
import { ROOT, VENV_PYTHON } from "./lib/paths.mjs";
import { installPythonPackages } from "./lib/python.mjs";

const POLICY = "ullage.compaction.policy";
const CAP = "ullage.compaction.cap";
/** How the texts begin that the setting shows, one for each policy. */
const TITLES = "config.compaction.policy.";

await main(async () => {
  await installPythonPackages();
  writeFileSync(join(ROOT, "docs", "protocol.schema.json"), execFileSync(VENV_PYTHON, ["-m", "ullage.lsp.json_schema"]));
  writeManifest();
  const golden = ["-m", "pytest", "-q", "tests/unit/context/policies/test_golden.py"];
  execFileSync(VENV_PYTHON, golden, { cwd: ROOT, env: { ...process.env, ULLAGE_GOLDEN: "write" }, stdio: "inherit" });
  return 0;
});

function writeManifest() {
  /** @type {{name: string, title: string, package: string}[]} */
  const everyPolicy = policies();
  const listed = everyPolicy.filter((each) => each.package === "ullage");
  change("package.json", (manifest) => {
    const settings = Object.assign({}, ...manifest.contributes.configuration.map((/** @type {any} */ group) => group.properties));
    settings[POLICY].enum = listed.map(({ name }) => name);
    settings[POLICY].enumDescriptions = listed.map(({ name }) => `%${TITLES}${name}%`);
    settings[CAP].default = policies("ullage").values.threshold.full_at.cap;
    return manifest;
  });
  change("package.nls.json", (texts) => {
    const kept = Object.entries(texts).filter(([key]) => !key.startsWith(TITLES));
    const titles = listed.map(({ name, title }) => /** @type {[string, string]} */ ([`${TITLES}${name}`, title]));
    return Object.fromEntries(kept.toSpliced(kept.findIndex(([key]) => `${key}.` === TITLES) + 1, 0, ...titles));
  });
}

/** What `ullage policies` says of all, or of one. @param {string[]} name @returns {any} */
function policies(...name) {
  return JSON.parse(execFileSync(VENV_PYTHON, ["-m", "ullage", "policies", ...name, "--format", "json"], { encoding: "utf8" }));
}

/** Reads a file of the extension, and writes what becomes of it. @param {string} file @param {(value: any) => unknown} to */
function change(file, to) {
  const path = join(ROOT, "client-extension", file);
  writeFileSync(path, `${JSON.stringify(to(JSON.parse(readFileSync(path, "utf8"))), null, 2)}\n`);
}
