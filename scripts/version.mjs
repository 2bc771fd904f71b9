/** `node scripts/version.mjs VERSION`: whether that is the version in the code, in the extension and in the changelog. A release asks first. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure, main } from "./lib/console.mjs";
import { ROOT } from "./lib/paths.mjs";

/** Where the version stands, and how. */
const PLACES = [
  { file: "server/ullage/__init__.py", pattern: /^__version__ = "([^"]+)"$/m },
  { file: "client-extension/package.json", pattern: /^ {2}"version": "([^"]+)"/m },
  { file: "CHANGELOG.md", pattern: /^## \[(\d[^\]]*)\] - \d{4}-\d{2}-\d{2}$/m },
];

await main(async () => {
  const wanted = process.argv[2];
  if (wanted === undefined || !/^\d+\.\d+\.\d+$/.test(wanted)) throw new Failure("Name the version, such as 1.2.3");
  const wrong = [];
  for (const { file, pattern } of PLACES) {
    const found = pattern.exec(await readFile(join(ROOT, file), "utf8"))?.[1];
    if (found !== wanted) wrong.push(`${file} has ${found ?? "no version"}`);
  }
  if (wrong.length > 0) throw new Failure(`${wanted} is not the version everywhere: ${wrong.join(", ")}`);
  console.log(`${wanted} stands in ${PLACES.map(({ file }) => file).join(", ")}`);
  return 0;
});
