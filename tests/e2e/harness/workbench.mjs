/** What a user does with VS Code itself: open it, run a command, open a file, type, read what it says. */

import { expectEventually } from "./eventually.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @typedef {[typed: string, rows: import("playwright-core").Locator]} Pick what is typed into a list, and the rows of which the first is clicked */

/** Milliseconds until the workbench has to be there; a cold start on a busy machine takes several seconds. */
const START_LIMIT = 60_000;

/** Milliseconds until a row of a list has to be there and was clicked; and how long that is waited for before it is looked whether the list is open. */
const LIST_LIMIT = 60_000;
const FOCUS_LIMIT = 3_000;

/** The outer frame of the panel. Other extensions show theirs, too, such as a preview of Markdown that is just being closed. */
export const PANEL = 'iframe.webview[src*="extensionId=ullage.ullage"]';

/** The size of a window, in pixels. */
export const WINDOW = { width: 1440, height: 900 };

/** Open VS Code in a page and wait until it can be used. @param {Page} page @param {string} url */
export async function openWorkbench(page, url) {
  await page.goto(url);
  await workbenchReady(page);
  await panelShown(page);
}

/** Leave VS Code as a user does who closes the tab: it is told, and ends what it runs for this window. @param {Page} page */
export async function closeWorkbench(page) {
  await page.goto("about:blank");
  await page.close();
}

/**
 * Load the window again, as a user does with "Reload Window". VS Code shows the side bar as it last wrote down, which may be before it was
 * opened: whoever needs the panel opens it (`openPanel`).
 *
 * @param {Page} page
 */
export async function reloadWindow(page) {
  await page.reload();
  await workbenchReady(page);
  if (await page.locator(".part.auxiliarybar").isVisible()) await panelShown(page);
}

/**
 * Run a command of the palette.
 *
 * @param {Page} page
 * @param {string} title as the palette shows it, with its category
 * @param {...string} answers what is picked in the lists that it opens
 */
export async function runCommand(page, title, ...answers) {
  const whole = new RegExp(`^${title.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}…?(,|$)`); // and not one that goes on, as "in a worktree"
  const picks = answers.map((answer) => /** @type {Pick} */ ([answer, page.getByRole("option").filter({ hasText: answer })]));
  await pickFirst(page, "F1", [`>${title}`, page.getByRole("option", { name: whole })], ...picks);
}

/** Open a file by its name. @param {Page} page @param {string} name with enough of its path to be the first match */
export async function openFile(page, name) {
  const base = name.split("/").at(-1) ?? name;
  await pickFirst(page, "Control+P", [name, page.getByRole("option").filter({ hasText: base })]);
  await page.locator(`.tab.active[data-resource-name="${base}"]`).waitFor();
  await page.locator(".editor-instance .monaco-editor.focused").first().waitFor(); // the tab is there before keys go to the text
}

/** Take back what was typed into the open editor. It is gone with its text, and no window asks whether to save it. @param {Page} page */
export async function revertFile(page) {
  await page.locator(".tab.active").click();
  await page.locator(".editor-instance .monaco-editor.focused").first().waitFor(); // the editor takes the focus late, and would close the palette
  await runCommand(page, "File: Revert File");
}

/**
 * Put the cursor at a line of the open editor and type.
 *
 * @param {Page} page
 * @param {number} line counted from 1
 * @param {string} text
 */
export async function typeAtLine(page, line, text) {
  await page.locator(".editor-instance .monaco-editor .view-lines").first().click();
  await page.keyboard.press("Control+G");
  await quickInput(page).fill(`:${line}`);
  await page.keyboard.press("Enter");
  await quickInput(page).waitFor({ state: "hidden" });
  if (text !== "") await page.keyboard.insertText(text); // at once: of single keys the last one was lost on a busy machine
}

/** The lines of the open editor that are on the screen, with plain spaces. @param {Page} page */
export async function editorText(page) {
  const lines = await page.locator(".editor-instance .monaco-editor .view-line").evaluateAll((elements) =>
    elements
      .map((element) => ({ top: element.getBoundingClientRect().top, text: element.textContent ?? "" }))
      .toSorted((a, b) => a.top - b.top)
      .map((line) => line.text),
  );
  return lines.join("\n").replaceAll("\u00a0", " ");
}

/** Wait until the open editor shows a text. @param {Page} page @param {string} text */
export async function editorShows(page, text) {
  await expectEventually(async () => (await editorText(page)).includes(text), `the editor shows ${JSON.stringify(text)}`);
}

/** Whether the open file has changes that are not saved. @param {Page} page */
export async function isUnsaved(page) {
  return (await page.locator(".tab.active.dirty").count()) > 0;
}

/** Drag the edge of the side bar that holds the panel. @param {Page} page @param {number} width in pixels */
export async function resizePanel(page, width) {
  const bar = page.locator(".part.auxiliarybar");
  await expectEventually(async () => {
    const { x, width: wide } = (await bar.boundingBox()) ?? { x: 0, width: 0 };
    return Math.abs(x + wide - (page.viewportSize()?.width ?? 0)) < 12;
  }, "the side bar lies at the edge of the window, whose size may just have changed");
  const box = await bar.boundingBox();
  if (!box) throw new Error("The secondary side bar is not shown");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x - 1, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - width, y, { steps: 5 });
  await page.mouse.up();
  await expectEventually(
    async () => Math.abs(((await bar.boundingBox())?.width ?? 0) - width) < 12,
    `the side bar is ${width} pixels wide`,
  );
}

/** A notification that holds a text. @param {Page} page @param {string | RegExp} text */
export function notification(page, text) {
  return page.locator(".notification-toast").filter({ hasText: text });
}

/**
 * Opens the list of notifications. VS Code shows no toast for the fourth notification within 800 ms, and scenarios are faster than people; the
 * list has them all.
 *
 * @param {Page} page
 */
export async function listNotifications(page) {
  await runCommand(page, "Notifications: Show Notifications");
}

/** A notification in the list, once that is open. @param {Page} page @param {string} text */
export function listedNotification(page, text) {
  return page.locator(".notifications-center .notification-list-item").filter({ hasText: text });
}

/** What `other-extension` says in the status bar. @param {Page} page */
export const said = (page) => page.locator('.statusbar-item[id$=".otherExtension.session"]');

/** Keys of `other-extension`. The palette would take a quarter of a second of the processor for each. */
export const START_AGAIN = "Control+Alt+Shift+F9";
export const START_AGAIN_ANEW = "Control+Alt+Shift+F10";
const ANSWER = "Control+Alt+Shift+F8";

/**
 * Press a key of `other-extension`, and again where VS Code has lost it, as it does while the focus moves, until the status bar says so.
 *
 * @param {Page} page
 * @param {string} key
 * @param {string} word of what it says then, which is never the same twice
 */
export async function tell(page, key, word) {
  const [before] = await said(page).allTextContents();
  let pressed = 0;
  await expectEventually(async () => {
    if (Date.now() - pressed > FOCUS_LIMIT) {
      await page.keyboard.press(key);
      pressed = Date.now();
    }
    const [now] = await said(page).allTextContents();
    return now !== undefined && now.includes(word) && now !== before;
  }, `other-extension has heard ${key}`);
}

/**
 * Wait until extensions know what has happened in the window so far, such as that a panel was hidden: VS Code tells them in order. No notification
 * is there then. It is said in the status bar: whoever takes away one that says it may take away the next one too.
 *
 * @param {Page} page
 */
export async function extensionsKnow(page) {
  await tell(page, ANSWER, "Extensions know");
}

/** @param {Page} page */
async function workbenchReady(page) {
  await page.waitForFunction(() => performance.getEntriesByName("code/didStartWorkbench").length > 0, undefined, { timeout: START_LIMIT });
}

/** VS Code shows the panel in a new window by itself and moves the focus there; keys pressed before that would go astray. @param {Page} page */
async function panelShown(page) {
  await page.frameLocator(PANEL).locator("iframe#active-frame").waitFor({ timeout: START_LIMIT });
}

/**
 * VS Code loses the key, or closes the list again, while an editor or a web view is about to take the focus, and tells nobody when that is over.
 * So the key is pressed again where no list stays open until its row was clicked.
 *
 * @param {Page} page
 * @param {string} key opens the first list
 * @param {...Pick} picks
 */
async function pickFirst(page, key, ...picks) {
  const end = Date.now() + LIST_LIMIT;
  for (let at = 0; at < picks.length;) {
    if (!(await quickInput(page).isVisible())) {
      await page.keyboard.press(key);
      at = 0;
    }
    const [typed, rows] = /** @type {Pick} */ (picks.at(at));
    try {
      await quickInput(page).fill(typed, { timeout: FOCUS_LIMIT });
      await page.locator(".quick-input-list").locator(rows).first().click({ timeout: FOCUS_LIMIT });
      at += 1;
      if (at < picks.length) await quickInput(page).waitFor({ timeout: FOCUS_LIMIT });
    } catch (error) {
      if (Date.now() > end) throw error;
      // The palette has the commands of the moment when it was opened; one may be there by now.
      if (await quickInput(page).isVisible()) await page.keyboard.press("Escape");
    }
  }
  // A command may open a list of its own at once.
  for (const [, rows] of picks.slice(-1)) await page.locator(".quick-input-list").locator(rows).first().waitFor({ state: "hidden" });
}

/** @param {Page} page */
function quickInput(page) {
  return page.locator(".quick-input-widget .quick-input-box input");
}
