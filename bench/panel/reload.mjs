/**
 * What a reload of the window takes, in parts: the workbench, the activation, the server, the session, the panel. In VS Code itself, as the
 * end-to-end tests drive it; the times of the parts are those that the extension logs.
 */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { startFakeApi } from "../../tests/e2e/harness/fake-api.mjs";
import { itemsOf, openPanel, panelOf, promptBox, sendAndFinish } from "../../tests/e2e/harness/panel.mjs";
import { openVsCode } from "../../tests/e2e/harness/vscode.mjs";
import { openWorkbench } from "../../tests/e2e/harness/workbench.mjs";
import { SAMPLE_WORKSPACE } from "../../scripts/lib/paths.mjs";

/**
 * @typedef {object} Reloaded milliseconds after the reload
 * @property {number} workbench until VS Code's own window was there
 * @property {number} shown until the conversation was seen
 * @property {number} ready until a prompt could be sent
 * @property {number | undefined} activating until VS Code began to activate the extension
 * @property {number | undefined} starting until the extension knew which server to start
 */

/** Milliseconds that a part may take on a busy machine. */
const LIMIT = 120_000;

/** @param {import("playwright-core").Browser} browser @param {number} times @returns {Promise<Reloaded[]>} */
export async function reloaded(browser, times) {
  const api = await startFakeApi();
  // As for a user: compiled modules are kept, whatever the machine of the bench says.
  const vscode = await openVsCode({ ANTHROPIC_API_KEY: "fake-key-of-the-bench", PYTHONDONTWRITEBYTECODE: "" });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(LIMIT);
  try {
    await vscode.useSettings({ "ullage.model.provider": "anthropic", "ullage.model.baseUrl": api.url });
    const page = await context.newPage();
    await openWorkbench(page, vscode.urlOf(await vscode.copyProject(SAMPLE_WORKSPACE)));
    await api.enqueue({ say: "The first answer." });
    await sendAndFinish(await openPanel(page), "The first prompt");
    /** @type {Reloaded[]} */
    const all = [];
    for (let time = 0; time < times; time += 1) {
      await page.waitForTimeout(3000);
      const since = Date.now();
      const passed = () => Date.now() - since;
      await page.reload({ waitUntil: "commit" });
      const workbench = page.waitForFunction(() => performance.getEntriesByName("code/didStartWorkbench").length > 0).then(passed);
      const panel = panelOf(page);
      const shown = itemsOf(panel, "assistant").getByText("The first answer.").waitFor().then(passed);
      await panel.locator("button.model-button").waitFor();
      await promptBox(panel).fill("a");
      await panel.locator("button.send:enabled").waitFor();
      const ready = passed();
      await promptBox(panel).fill("");
      all.push({ workbench: await workbench, shown: await shown, ready, ...(await loggedSince(vscode.userData, since)) });
    }
    return all;
  } finally {
    await context.close();
    await vscode.stop();
    await api.stop();
  }
}

/** When VS Code and the extension said what they were doing. @param {string} userData @param {number} since */
async function loggedSince(userData, since) {
  const folder = join(userData, "logs");
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".log"));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8").catch(() => "")));
  const lines = texts.flatMap((text) => text.split("\n")).map((line) => ({ at: Date.parse(line.slice(0, 23)) - since, line }));
  const first = (/** @type {string} */ words) =>
    lines
      .filter(({ at, line }) => at >= 0 && line.includes(words))
      .map(({ at }) => at)
      .toSorted((a, b) => a - b)[0];
  return { activating: first("_doActivateExtension ullage.ullage"), starting: first("Server: ") };
}
