/**
 * `node tests/extension/preview/preview.mjs FOLDER [SCENE …]`: draws the built panel in a plain browser and takes a picture of each scene.
 *
 * For looking at, not a test. Build the extension first. CHROMIUM names the browser; default is `chromium` of the system.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { SCENES } from "./scenes.mjs";
import { THEMES, styleOf } from "./themes.mjs";

const DIST = fileURLToPath(new URL("../../../client-extension/dist/", import.meta.url));

const [folder = "preview", ...names] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const scene of SCENES.filter(({ name }) => names.length === 0 || names.includes(name))) {
    await draw(scene);
  }
} finally {
  await browser.close();
}

/** @param {import("./scenes.mjs").Scene} scene */
async function draw(scene) {
  const html = resolve(join(folder, `${scene.name}.html`));
  await writeFile(html, pageOf(scene));
  const page = await browser.newPage({ viewport: { width: scene.width ?? 380, height: scene.height ?? 760 }, deviceScaleFactor: 2 });
  page.on("pageerror", (error) => console.error(`${scene.name}: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && console.error(`${scene.name}: ${message.text()}`));
  await page.goto(pathToFileURL(html).href);
  for (const message of scene.messages) {
    await page.evaluate((data) => window.postMessage(data, "*"), message);
  }
  await page.waitForTimeout(150);
  await scene.act?.(page);
  await page.waitForTimeout(250);
  await page.screenshot({ path: join(folder, `${scene.name}.png`) });
  await page.close();
}

/** What the panel's requests are answered with; nothing to those that are not named. @param {import("./scenes.mjs").Scene} scene */
function answersOf({ answers = {}, refusals = {} }) {
  const results = Object.entries(answers).map(([method, result]) => [method, { result }]);
  return { "ullage/session/undoCompaction": { result: {} }, ...Object.fromEntries(results), ...refusals };
}

/** @param {string} name @returns {string} */
function urlOf(name) {
  return pathToFileURL(join(DIST, name)).href;
}

/** @param {import("./scenes.mjs").Scene} scene @returns {string} */
function pageOf(scene) {
  const { theme = "dark" } = scene;
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <link rel="stylesheet" href="${urlOf("webview-style.css")}">
    <style>${styleOf(theme)}</style>
    <script>
      const files = ["tankgauge/tank.py", "tankgauge/table.py", "tests/test_table.py"].map((path) => ({ path, uri: "file:///" + path, open: path.endsWith("tank.py") }));
      const answers = ${JSON.stringify(answersOf(scene)).replaceAll("<", "\\u003c")};
      window.acquireVsCodeApi = () => ({
        postMessage(message) {
          if (message.type === "findFiles") window.postMessage({ type: "response", id: message.id, result: files }, "*");
          if (message.type === "request") window.postMessage({ type: "response", id: message.id, ...answers[message.method] }, "*");
        },
        getState: () => undefined,
        setState: () => undefined,
      });
    </script>
  </head>
  <body class="${THEMES[theme].bodyClass}">
    <script src="${urlOf("webview.js")}"></script>
  </body>
</html>`;
}
