/**
 * What all stages share, since it takes longest to start: the browser, a VS Code for each environment in which one is wanted, and a fake API
 * for each size of a window. Opened when it is first asked for, and ended when all scenarios are over. Every VS Code has the same surroundings
 * (`surroundings.mjs`), but for the one in a container.
 */

import { after } from "node:test";
import { launchBrowser } from "./browser.mjs";
import { startFakeApi } from "./fake-api.mjs";
import { leaveSurroundings, SURROUNDINGS } from "./surroundings.mjs";
import { openVsCode } from "./vscode.mjs";
import { WINDOW } from "./workbench.mjs";

/** @typedef {{vscode: import("./vscode.mjs").OpenVsCode, context: import("playwright-core").BrowserContext}} Room */

/** Milliseconds that anything in a window may take; what is there sooner is waited for no longer. */
const PATIENCE = 60_000;

/** @type {(() => Promise<unknown>)[]} */
const endings = [leaveSurroundings];
/** @type {(() => Promise<unknown>)[]} */
const goodbyes = [];
after(async () => {
  for (const goodbye of goodbyes) await goodbye();
  for (const end of endings.toReversed()) await end();
});

/** @type {Promise<import("playwright-core").Browser> | undefined} */
let browser;
/** @type {Map<string, Promise<Room>>} */
const rooms = new Map();
/** @type {Map<string, Promise<import("./fake-api.mjs").FakeApi>>} */
const apis = new Map();

/** What is to be done while all of it is still there. @param {() => Promise<unknown>} goodbye */
export function beforeTheEnd(goodbye) {
  goodbyes.push(goodbye);
}

/**
 * VS Code with this environment, and a browser profile that has its settings of the window.
 *
 * @param {NodeJS.ProcessEnv} env beside ours and its surroundings
 * @param {boolean} [contained] in a container, which has an environment of its own
 * @returns {Promise<Room>}
 */
export function roomFor(env, contained = false) {
  const key = JSON.stringify([env, contained]);
  const known = rooms.get(key);
  if (known) return known;
  const opened = openRoom(env, contained);
  rooms.set(key, opened);
  return opened;
}

/**
 * The fake API whose models have a window of so many tokens; each model its own if left out.
 *
 * @param {number} [window]
 * @param {boolean} [search] whether it searches the web
 */
export function apiWith(window, search = false) {
  const key = `${window ?? ""} ${search}`;
  const known = apis.get(key);
  if (known) return known;
  const started = startFakeApi({ window, search }).then((api) => {
    endings.push(api.stop);
    return api;
  });
  apis.set(key, started);
  return started;
}

/**
 * A profile in which nothing was changed yet, such as the width of a side bar.
 *
 * Nothing moves for the eye's sake: without a graphics card each frame of an animation takes the processor from what is tested, by a fifth. VS Code
 * fades its scroll bars all the same, and each of them has the window drawn fifty times. Panels, which are ours to test, are left as they are.
 */
export async function freshProfile() {
  browser ??= launched();
  const context = await (await browser).newContext({ viewport: WINDOW, colorScheme: "light", reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE);
  await context.addInitScript(() => {
    if (window !== window.top) return;
    const still = new CSSStyleSheet();
    still.replaceSync("*, ::before, ::after { animation: none !important; transition: none !important }");
    document.adoptedStyleSheets = [still];
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]); // a user is asked once, in the browser's own words
  return context;
}

/** @param {NodeJS.ProcessEnv} env @param {boolean} contained @returns {Promise<Room>} */
async function openRoom(env, contained) {
  const vscode = await openVsCode(contained ? env : { ...SURROUNDINGS, ...env }, contained);
  endings.push(vscode.stop);
  return { vscode, context: await freshProfile() };
}

async function launched() {
  const started = await launchBrowser();
  endings.push(() => started.close());
  return started;
}
