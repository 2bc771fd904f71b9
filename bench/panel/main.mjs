/**
 * `npm run bench -- panel [--beside FOLDER] [CONTENT …]`: the panel in a browser, beside an editor in which somebody types. Writes PANEL.md.
 *
 * Contents stream in at a thousand tokens a second; a conversation of ten thousand messages, with
 * changes, plans and going back, is scrolled and searched, and goes on; the window is reloaded.
 * `--beside` names the `dist` of another build of the extension: its columns stand before, from the same run.
 */

import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { main } from "../../scripts/lib/console.mjs";
import { buildExtension } from "../../scripts/lib/extension.mjs";
import { EXTENSION } from "../../scripts/lib/paths.mjs";
import { setUp } from "../../scripts/setup.mjs";
import { launchBrowser } from "../../tests/e2e/harness/browser.mjs";
import { CONTENTS, longConversation } from "./contents.mjs";
import { idleKeys, scrolled, streamed } from "./measures.mjs";
import { servePages } from "./pages.mjs";
import { reloaded } from "./reload.mjs";
import { report } from "./report.mjs";

const FILE = fileURLToPath(new URL("../PANEL.md", import.meta.url));
const MESSAGES = 10_000;
const SCROLL_SECONDS = 30;
const RELOADS = 3;

await main(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { beside: { type: "string" } } });
  await setUp();
  await buildExtension();
  /** @type {Record<string, string>} */
  const builds = { ...(values.beside === undefined ? {} : { before: resolve(values.beside) }), now: join(EXTENSION, "dist") };
  const load = loadavg()[0] ?? 0;
  const pages = await servePages(builds);
  const browser = await launchBrowser();
  try {
    const contents = CONTENTS.filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)));
    /** @type {import("./report.mjs").OfBuild[]} */
    const all = [];
    for (const name of Object.keys(builds)) all.push({ name, idle: [], contents: [], long: undefined });
    const each = async (
      /** @type {(of: import("./report.mjs").OfBuild, page: import("playwright-core").Page, url: string) => Promise<void>} */ measure,
    ) => {
      for (const of of all) {
        const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
        await measure(of, page, pages.urlOf(of.name));
        await page.close();
      }
    };
    await each(async (of, page, url) => void (of.idle = await idleKeys(page, url)));
    for (const content of contents) {
      await each(async (of, page, url) => {
        of.contents.push({ name: content.name, ...(await streamed(page, url, content)) });
        console.log(`${of.name}: ${content.name}`);
      });
    }
    const conversation = longConversation(MESSAGES);
    const mixed = CONTENTS.find(({ name }) => name === "mixed Markdown");
    if (mixed !== undefined) {
      const name = `${mixed.name}, below ${MESSAGES.toLocaleString("en-US")} messages`;
      await each(async (of, page, url) => void of.contents.push({ name, ...(await streamed(page, url, mixed, conversation)) }));
    }
    await each(async (of, page, url) => void (of.long = await scrolled(page, url, conversation, SCROLL_SECONDS)));
    const reloads = await reloaded(browser, RELOADS);
    const machine = `${cpus().length} cores, load average ${load.toFixed(1)} before and ${(loadavg()[0] ?? 0).toFixed(1)} after`;
    await writeFile(FILE, report({ all, reloads, machine, messages: MESSAGES, seconds: SCROLL_SECONDS }));
    console.log(`${FILE} is written`);
  } finally {
    await browser.close();
    pages.stop();
  }
  return 0;
});
