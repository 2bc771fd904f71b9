/**
 * `npm run l10n`: collects what goes through `t` in the extension and the panel into `client-extension/l10n/bundle.l10n.json`, and brings the other
 * languages to it: what is stale is taken out, what is new gets an empty text to be filled in. `--check` changes nothing, and fails where a text is
 * missing, stale, or has other values in braces than the English one. The same is done for the texts of the manifest.
 */

import { getL10nJson } from "@vscode/l10n-dev";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure, green, main } from "./lib/console.mjs";
import { ROOT } from "./lib/paths.mjs";

/** @typedef {Record<string, string>} Texts */

const EXTENSION = join(ROOT, "client-extension");
const BUNDLE = join(EXTENSION, "l10n", "bundle.l10n.json");
const MANIFEST = join(EXTENSION, "package.nls.json");
const SHOWN = 40;
const LANGUAGES = ["zh-cn"];
/** Our own functions, as they are called, and the one that the collector knows. */
const OURS = /(?<![\w.])(?:t|known)\((?=["'\s])/g;
const KNOWN = 'import * as l10n from "@vscode/l10n";\n';

await main(async () => {
  const isCheck = process.argv.includes("--check");
  const collected = await collect();
  const problems = isCheck ? differences("bundle.l10n.json", await textsIn(BUNDLE), collected) : [];
  if (!isCheck) await write(BUNDLE, collected);
  for (const language of LANGUAGES) {
    problems.push(...(await bring(join(EXTENSION, "l10n", `bundle.l10n.${language}.json`), collected, isCheck)));
    problems.push(...(await bring(join(EXTENSION, `package.nls.${language}.json`), await textsIn(MANIFEST), isCheck)));
  }
  if (problems.length > 0) {
    const more = problems.length > SHOWN ? `\nand ${problems.length - SHOWN} more` : "";
    throw new Failure(
      `${problems.slice(0, SHOWN).join("\n")}${more}\n${isCheck ? "Run `npm run l10n`, and fill in what is empty." : "Fill these in."}`,
    );
  }
  console.log(green(`${Object.keys(collected).length} texts, all of them in ${LANGUAGES.join(", ")}`));
  return 0;
});

/** Every message that the code names, by itself. @returns {Promise<Texts>} */
async function collect() {
  const files = ["src", "webview"].map(async (folder) => {
    const names = await readdir(join(EXTENSION, folder), { recursive: true });
    return names.filter((name) => name.endsWith(".ts")).map((name) => join(EXTENSION, folder, name));
  });
  const texts = await Promise.all((await Promise.all(files)).flat().map((path) => readFile(path, "utf8")));
  // One text for all: the collector prepares its grammar anew for each.
  const contents = KNOWN + texts.map((text) => text.replace(OURS, "l10n.t(")).join("\n");
  const found = /** @type {Texts} */ (await getL10nJson([{ extension: ".ts", contents }]));
  return Object.fromEntries(Object.entries(found).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** A language's file with one text for each of the English ones. @param {string} path @param {Texts} english @param {boolean} isCheck */
async function bring(path, english, isCheck) {
  const known = await textsIn(path);
  const name = path.slice(EXTENSION.length + 1);
  const texts = Object.fromEntries(Object.keys(english).map((key) => [key, known[key] ?? ""]));
  if (!isCheck) await write(path, texts);
  const missing = Object.entries(texts).filter(([, text]) => text === "");
  return [
    ...(isCheck ? differences(name, known, texts, true) : []),
    ...missing.map(([key]) => `${name}: no text for ${JSON.stringify(key)}`),
    ...Object.entries(texts)
      .filter(([key, text]) => text !== "" && valuesIn(text) !== valuesIn(english[key] ?? ""))
      .map(([key, text]) => `${name}: ${JSON.stringify(text)} has other values than ${JSON.stringify(english[key])}`),
  ];
}

/** The names in braces, each once. @param {string} text */
function valuesIn(text) {
  return [...new Set(Array.from(text.matchAll(/\{(\w+)\}/g), ([, name]) => name))].toSorted().join();
}

/** What a file has too much, or lacks. @param {string} name @param {Texts} known @param {Texts} wanted @param {boolean} [onlyStale] */
function differences(name, known, wanted, onlyStale = false) {
  const stale = Object.keys(known).filter((key) => !(key in wanted));
  const lacking = onlyStale ? [] : Object.keys(wanted).filter((key) => !(key in known));
  return [
    ...stale.map((key) => `${name}: stale: ${JSON.stringify(key)}`),
    ...lacking.map((key) => `${name}: lacks ${JSON.stringify(key)}`),
  ];
}

/** @param {string} path @returns {Promise<Texts>} */
async function textsIn(path) {
  return JSON.parse(await readFile(path, "utf8").catch(() => "{}"));
}

/** @param {string} path @param {Texts} texts */
async function write(path, texts) {
  await writeFile(path, `${JSON.stringify(texts, undefined, 2)}\n`);
}
