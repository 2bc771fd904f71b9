/** One end-to-end scenario: VS Code on a project of its own, the browser, the fake API, pictures, and an end that leaves nothing behind. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { ROOT, SAMPLE_WORKSPACE } from "../../../scripts/lib/paths.mjs";
import { launchBrowser } from "./browser.mjs";
import { startFakeApi } from "./fake-api.mjs";
import { openVsCode } from "./vscode.mjs";
import { openWorkbench } from "./workbench.mjs";

/** Milliseconds for a scenario, all set-up included. */
const LIMIT = 180_000;

const ARTIFACTS = join(ROOT, "tests", "e2e", "artifacts");

/**
 * @typedef {object} Options
 * @property {string} [project] folder that is copied and opened, the sample workspace if left out
 * @property {Record<string, unknown>} [settings] user settings
 * @property {number} [window] tokens of the models' window at the fake API
 * @property {boolean} [practice] no key and no fake API: the practice model answers
 */

/**
 * @typedef {object} Scene
 * @property {import("playwright-core").Page} page VS Code's window
 * @property {string} workspace the folder that is open
 * @property {string} userData folder of VS Code's settings, state and logs
 * @property {import("./fake-api.mjs").FakeApi} api the fake API; asking for it in a practice scenario is an error
 * @property {(name: string) => Promise<void>} screenshot keeps a picture under tests/e2e/artifacts/
 */

/**
 * Declare a scenario as a test. When it fails, a picture of the moment is kept.
 *
 * @param {string} name
 * @param {Options} options
 * @param {(scene: Scene) => Promise<void>} body
 */
export function scenario(name, options, body) {
  void test(name, { timeout: LIMIT }, async () => {
    /** @type {(() => Promise<void>)[]} */
    const endings = [];
    try {
      const scene = await setScene(name, options, endings);
      await body(scene).catch(async (error) => {
        await scene.screenshot("failure").catch(() => undefined);
        throw error;
      });
    } finally {
      for (const end of endings.toReversed()) await end();
    }
  });
}

/** @param {string} name @param {Options} options @param {(() => Promise<void>)[]} endings @returns {Promise<Scene>} */
async function setScene(name, { project = SAMPLE_WORKSPACE, settings = {}, window, practice = false }, endings) {
  const api = practice ? undefined : await startFakeApi({ window });
  if (api) endings.push(api.stop);
  const model = api ? { "ullage.model.provider": "anthropic", "ullage.model.baseUrl": api.url } : { "ullage.model.provider": "practice" };
  const key = api ? { ANTHROPIC_API_KEY: "fake-key-of-the-tests" } : { ANTHROPIC_API_KEY: "" };
  const vscode = await openVsCode({ project, settings: { ...model, ...settings }, env: key });
  endings.push(vscode.stop);
  const browser = await launchBrowser();
  endings.push(() => browser.close());
  const page = await openWorkbench(browser, vscode.url);
  const folder = join(ARTIFACTS, name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase());
  await mkdir(folder, { recursive: true });
  return {
    page,
    workspace: vscode.workspace,
    userData: vscode.userData,
    get api() {
      if (!api) throw new Error("A practice scenario has no fake API");
      return api;
    },
    screenshot: async (picture) => void (await page.screenshot({ path: join(folder, `${picture}.png`) })),
  };
}
