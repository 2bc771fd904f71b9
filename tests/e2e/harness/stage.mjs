/**
 * End-to-end scenarios and what they are played on.
 *
 * All stages share the browser, the fake APIs, and for each environment VS Code (`house.mjs`). Each scenario has a session of its own. It also
 * has a project, a window and a server process of its own, unless it goes on in the window of the scenario before: to open one takes longer
 * than most scenarios. So a window stays until a scenario needs another one. It is closed only once its server is gone.
 */

import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test, { suite } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { ROOT, SAMPLE_WORKSPACE } from "../../../scripts/lib/paths.mjs";
import { everybodyCanUse } from "./accessible.mjs";
import { expectEventually } from "./eventually.mjs";
import { apiWith, beforeTheEnd, freshProfile, roomFor } from "./house.mjs";
import { whatIsLeft } from "./left.mjs";
import { settingsTaken, startAgain } from "./panel.mjs";
import { closeWorkbench, openWorkbench } from "./workbench.mjs";

/** Milliseconds for a scenario, all set-up included. */
const LIMIT = 300_000;

const ARTIFACTS = join(ROOT, "tests", "e2e", "artifacts");

/** Pictures are for people to look at. A run of all layers takes none but those of failures: they take a fifteenth of its time. */
const WITH_PICTURES = process.env["ULLAGE_PICTURES"] !== "0";

/**
 * @typedef {object} StageOptions
 * @property {boolean} [practice] no key and no fake API: the practice model answers
 * @property {number} [window] tokens of the models' window at the fake API
 * @property {boolean} [search] whether the fake API searches the web
 * @property {NodeJS.ProcessEnv} [env] environment of VS Code, beside ours (`surroundings.mjs`) or the container's; a VS Code of its own has it
 * @property {boolean} [contained] on a machine without a network that has nothing of this repository (`container.mjs`)
 */

/**
 * @typedef {object} ScenarioOptions
 * @property {string | null} [project] folder that is copied and opened; the sample workspace if left out, null for a window without a folder
 * @property {Record<string, unknown>} [settings] user settings, beside those of the stage
 * @property {(folder: string) => Promise<void>} [prepare] changes the copy of the project before it is opened
 * @property {{width: number, height: number}} [size] of the window, in pixels; such a window has a browser profile of its own
 * @property {"zh-cn"} [language] of VS Code; that of its own code stays English, as no language pack is there
 * @property {boolean} [goesOn] in the window of the scenario before, of this stage or the last one: in a new session, with the project as it
 *   was, and with other settings as after a user has changed them; in a window of its own where that one failed or did not run, or spoke another
 *   language
 * @property {boolean} [anew] with a server that knows nothing of the scenarios before
 * @property {boolean} [alone] what it does to its window, no other is to go on with
 */

/**
 * @typedef {object} Scene
 * @property {import("playwright-core").Page} page VS Code's window
 * @property {string} workspace the folder that is open
 * @property {import("./fake-api.mjs").FakeApi} api the fake API; asking for it in a practice scenario is an error
 * @property {(changed: Record<string, unknown>) => Promise<void>} settings changes user settings while the window is open. Another scenario
 *   goes on in it where they are as at first again (`{}`); who puts them back waits until that is seen
 * @property {() => Promise<number>} serverProcess id of the process of the window's server, once it is there
 * @property {(name: string) => Promise<void>} screenshot keeps a picture under tests/e2e/artifacts/, and axe must find nothing in the panel
 */

/** @typedef {(title: string, options: ScenarioOptions, body: (scene: Scene) => Promise<void>) => void} DeclareScenario */

/** @typedef {{title: string, options: ScenarioOptions, body: (scene: Scene) => Promise<void>}} Scenario */

/**
 * @typedef {object} Stage
 * @property {import("./vscode.mjs").OpenVsCode} vscode
 * @property {import("playwright-core").BrowserContext} context
 * @property {import("./fake-api.mjs").FakeApi | undefined} api
 */

/**
 * @typedef {object} Window
 * @property {import("playwright-core").Page} page
 * @property {string | undefined} workspace
 * @property {import("./vscode.mjs").OpenVsCode} vscode
 * @property {Record<string, unknown>} settings
 * @property {"zh-cn" | undefined} language
 * @property {number} [change] number of the last change of its settings between two scenarios
 * @property {() => Promise<void>} close until its server has ended
 */

/** The one that the scenario before left open. @type {Window | undefined} */
let left;
/** How often settings were changed between two scenarios. */
let changes = 0;
beforeTheEnd(leaveWindow);

/**
 * Declare scenarios that share a stage. Each is a test of its own, and may be run alone.
 *
 * @param {string} name
 * @param {StageOptions} options
 * @param {(scenario: DeclareScenario) => void} declare
 */
export function stage(name, options, declare) {
  void suite(name, () => {
    /** @type {Promise<Stage> | undefined} */
    let set;
    /** @type {Scenario[]} */
    const scenarios = [];
    declare((title, scenarioOptions, body) => scenarios.push({ title, options: scenarioOptions, body }));
    for (const scenario of scenarios) {
      void test(scenario.title, { timeout: LIMIT }, async () => play(await (set ??= setStage(options)), scenario));
    }
  });
}

/** @param {StageOptions} options @returns {Promise<Stage>} */
async function setStage({ practice = false, window, search = false, env = {}, contained = false }) {
  const api = practice ? undefined : await apiWith(window, search);
  return { ...(await roomFor({ ANTHROPIC_API_KEY: api ? "fake-key-of-the-tests" : "", ...env }, contained)), api };
}

/** @param {Stage} on @param {Scenario} scenario */
async function play(on, { title, options, body }) {
  const { vscode, api } = on;
  const folder = join(ARTIFACTS, title.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase());
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await api?.reset();
  const window = await windowFor(on, options);
  const { page, workspace, settings, close } = window;
  let isAsOpened = true;
  const screenshot = async (/** @type {string} */ name) => {
    await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" }); // a notification that fades in is there
  };
  const picture = async (/** @type {string} */ name) => {
    if (WITH_PICTURES) await screenshot(name);
    await everybodyCanUse(page, name);
  };
  try {
    await body({
      page,
      screenshot: picture,
      get workspace() {
        if (workspace === undefined) throw new Error("This scenario has no folder");
        return workspace;
      },
      get api() {
        if (!api) throw new Error("A practice scenario has no fake API");
        return api;
      },
      settings: (changed) => {
        isAsOpened = Object.keys(changed).length === 0;
        return vscode.useSettings({ ...settings, ...changed }, window.change);
      },
      serverProcess: () => onlyServer(vscode),
    });
  } catch (error) {
    await screenshot("failure").catch(() => undefined);
    await writeFile(join(folder, "failure.log"), await vscode.log());
    await close().catch(() => undefined); // the first error is the one to see
    throw error;
  }
  if (options.alone || !isAsOpened) await close();
  else left = window;
}

/** The window of the scenario before, as if it were new, or one that is opened. @param {Stage} on @param {ScenarioOptions} options */
async function windowFor(on, options) {
  const { vscode, api } = on;
  const settings = { ...modelSettings(api), ...options.settings };
  const window = left;
  if (!window || !options.goesOn || options.size || window.vscode !== vscode || window.language !== options.language) {
    await leaveWindow();
    return openWindow(on, options, settings);
  }
  left = undefined; // if this one fails, the next has a window of its own
  try {
    const anew = options.anew || !isDeepStrictEqual(ofStore(window.settings), ofStore(settings));
    if (!isDeepStrictEqual(window.settings, settings)) {
      window.settings = settings;
      window.change = ++changes;
      await vscode.useSettings(settings, window.change);
      await settingsTaken(window.page, window.change);
    }
    await startAgain(window.page, anew ? "with another server" : undefined); // to start one takes longer than many a scenario
    if (window.workspace !== undefined) {
      await vscode.restoreProject(window.workspace);
      await options.prepare?.(window.workspace);
    }
  } catch (error) {
    await window.close().catch(() => undefined);
    throw error;
  }
  return window;
}

async function leaveWindow() {
  const window = left;
  left = undefined;
  await window?.close();
}

/** @param {Stage} on @param {ScenarioOptions} options @param {Record<string, unknown>} settings @returns {Promise<Window>} */
async function openWindow({ vscode, context }, { project = SAMPLE_WORKSPACE, prepare, size, language }, settings) {
  await vscode.useSettings(settings);
  const workspace = project === null ? undefined : await vscode.copyProject(project);
  if (workspace !== undefined) await prepare?.(workspace);
  const profile = size ? await freshProfile() : context;
  const page = await profile.newPage();
  if (size) await page.setViewportSize(size);
  // As the language pack of VS Code does.
  if (language) await page.addInitScript((name) => Object.assign(globalThis, { _VSCODE_NLS_LANGUAGE: name }), language);
  const close = async () => {
    await closeWorkbench(page);
    if (size) await profile.close();
    await serverGone(vscode).catch(async (error) => {
      throw new Error(`${error.message}\n${await whatIsLeft(vscode)}`);
    });
  };
  try {
    await openWorkbench(page, vscode.urlOf(workspace));
  } catch (error) {
    const remains = await whatIsLeft(vscode);
    await close().catch(() => undefined);
    throw new Error(`The window did not open: ${String(error)}\n${remains}`, { cause: error });
  }
  return { page, workspace, vscode, settings, language, close };
}

/** The settings for which Ullage itself starts its server again. @param {Record<string, unknown>} settings */
function ofStore(settings) {
  return Object.entries(settings).filter(([name]) => name.startsWith("ullage.store."));
}

/** @param {import("./fake-api.mjs").FakeApi | undefined} api */
function modelSettings(api) {
  return api ? { "ullage.model.provider": "anthropic", "ullage.model.baseUrl": api.url } : { "ullage.model.provider": "practice" };
}

/** @param {import("./vscode.mjs").OpenVsCode} vscode */
function serverGone(vscode) {
  return expectEventually(async () => (await vscode.servers()).length === 0, "the server ends with its window");
}

/** @param {import("./vscode.mjs").OpenVsCode} vscode */
async function onlyServer(vscode) {
  /** @type {number[]} */
  let found = [];
  await expectEventually(async () => (found = await vscode.servers()).length === 1, "the window has one server");
  return found[0] ?? 0;
}
