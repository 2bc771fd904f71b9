/**
 * `npm run generate`: writes again what is made from the server's own values, so that each of them stands in one place.
 *
 * - docs/protocol.schema.json, from the wire types
 * - in the manifest of the extension: the policies with their titles, and the default of `ullage.compaction.cap`
 * - docs/settings.md and docs/commands.md, in English and Chinese, from the manifest and its texts
 * - tests/unit/context/policies/golden/: what each policy makes of a small history
 */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "./lib/console.mjs";
import { installRootPackages } from "./lib/npm.mjs";
import { EXTENSION, ROOT, VENV_PYTHON } from "./lib/paths.mjs";
import { installPythonPackages } from "./lib/python.mjs";
import { referencePages } from "./lib/reference.mjs";

const POLICY = "ullage.compaction.policy";
const CAP = "ullage.compaction.cap";
/** How the texts begin that the setting shows, one for each policy. */
const TITLES = "config.compaction.policy.";

await main(async () => {
  await installPythonPackages();
  await installRootPackages();
  writeFileSync(join(ROOT, "docs", "protocol.schema.json"), execFileSync(VENV_PYTHON, ["-m", "ullage.lsp.json_schema"]));
  writeManifest();
  await writeReference();
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

/** A JSON file of the extension. @param {string} file @returns {any} */
function read(file) {
  return JSON.parse(readFileSync(join(EXTENSION, file), "utf8"));
}

async function writeReference() {
  const pages = referencePages({
    manifest: read("package.json"),
    english: read("package.nls.json"),
    chinese: read("package.nls.zh-cn.json"),
    bundle: read("l10n/bundle.l10n.zh-cn.json"),
    slashCommands: await slashCommands(),
  });
  for (const [name, text] of Object.entries(pages)) writeFileSync(join(ROOT, "docs", name), text);
}

/** They stand in the panel's own code, which is TypeScript. @returns {Promise<import("./lib/reference.mjs").SlashCommand[]>} */
async function slashCommands() {
  const { build } = await import("esbuild");
  const entry = join(EXTENSION, "webview", "dock", "slashCommands.ts");
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: "esm", logLevel: "warning" });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString("base64");
  return (await import(`data:text/javascript;base64,${code}`)).SLASH_COMMANDS;
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
