/** The chat panel: the document inside the two frames that VS Code puts around a webview. */

import { expectEventually } from "./eventually.mjs";
import { extensionsKnow, PANEL, runCommand, said, START_AGAIN, START_AGAIN_ANEW, tell, WINDOW } from "./workbench.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {Pick<import("playwright-core").Frame, "locator" | "getByRole" | "getByText" | "getByLabel">} Panel where things are looked for */

/** Hide the side bar with the panel, and wait until extensions know. @param {Page} page */
export async function hidePanel(page) {
  await runCommand(page, "View: Toggle Secondary Side Bar Visibility");
  await extensionsKnow(page);
}

/** The panel, which is shown where it is hidden, with its prompt box. @param {Page} page @returns {Promise<Panel>} */
export async function openPanel(page) {
  const panel = panelOf(page);
  if (!(await promptBox(panel).isVisible())) await runCommand(page, "Ullage: Open chat");
  await promptBox(panel).waitFor();
  return panel;
}

/**
 * The document of the panel, which need not be there yet.
 *
 * Once it is there, it is looked into without a look at the two frames around it, which doubles the questions to the browser. A place in it that was
 * named before the panel was hidden or the window was loaded again is gone with it.
 *
 * @param {Page} page
 * @returns {Panel}
 */
export function panelOf(page) {
  const inside = () => ownFrame(page) ?? page.frameLocator(PANEL).frameLocator("iframe#active-frame");
  return {
    locator: (...how) => inside().locator(...how),
    getByRole: (...how) => inside().getByRole(...how),
    getByText: (...how) => inside().getByText(...how),
    getByLabel: (...how) => inside().getByLabel(...how),
  };
}

/** The last: one that is being drawn anew stands beside the one of before. @param {Page} page */
function ownFrame(page) {
  return page.frames().findLast((frame) => frame.parentFrame()?.url().includes("extensionId=ullage.ullage"));
}

/** @param {Panel} panel */
export function promptBox(panel) {
  return panel.locator(".composer").getByRole("textbox").first();
}

/** Wait until the session is drawn. @param {Panel} panel */
async function sessionIsThere(panel) {
  await panel.locator("button.model-button").waitFor();
}

/** Wait until extensions have settings that were changed. @param {Page} page @param {number} change its number */
export async function settingsTaken(page, change) {
  await said(page).getByText(`Settings taken: ${change}`, { exact: true }).waitFor();
}

/**
 * Leave what a scenario did in a window: a new session, no editor, no notification, the usual size.
 *
 * @param {Page} page
 * @param {"with another server"} [how] the server is started again, and knows nothing of before
 */
export async function startAgain(page, how) {
  const panel = panelOf(page);
  await page.mouse.move(0, 0); // what is said at the pointer would lie over what is clicked
  await page.setViewportSize(WINDOW);
  await tell(page, how === undefined ? START_AGAIN : START_AGAIN_ANEW, "again");
  await said(page)
    .getByText(/Began again: /)
    .waitFor();
  const [, session = ""] = /Began again: (\S+)/.exec((await said(page).textContent()) ?? "") ?? [];
  await panel.locator(`[data-session-id="${session}"]`).waitFor(); // and not the one that the window opens by itself
  await sessionIsThere(panel);
}

/**
 * Write into the prompt box.
 *
 * VS Code moves the focus some time after a command or the start of a window, and tells nobody when that is over. What is written at that moment
 * goes nowhere, so it is written again: the browser is told to select the box first, and then to write where the focus is.
 *
 * @param {Panel} panel
 * @param {string} text
 */
async function write(panel, text) {
  await expectEventually(async () => {
    await promptBox(panel).fill(text);
    return (await promptBox(panel).inputValue()) === text;
  }, "the prompt stands in its box");
}

/** Write a prompt and send it. @param {Panel} panel @param {string} text */
export async function sendPrompt(panel, text) {
  await write(panel, text);
  await panel.locator("button.send:enabled").waitFor();
  await promptBox(panel).press("Enter");
}

/** Write a prompt, send it, and wait until its turn, and what was queued after it, is over. @param {Panel} panel @param {string} text */
export async function sendAndFinish(panel, text) {
  const newest = () => itemsOf(panel, "user").evaluateAll((rows) => rows.at(-1)?.getAttribute("data-item-id"));
  await sessionIsThere(panel);
  const before = await newest();
  await sendPrompt(panel, text);
  await expectEventually(async () => (await newest()) !== before, "the prompt stands in the conversation");
  await turnIsOver(panel);
}

/** Wait until nothing runs: the button to stop it is gone. @param {Panel} panel */
export async function turnIsOver(panel) {
  await panel.locator("button.stop").waitFor({ state: "hidden" });
}

/**
 * The items of the conversation of one kind, from the oldest to the newest.
 *
 * @param {Panel} panel
 * @param {"user" | "assistant" | "thinking" | "toolCall" | "compaction" | "notice"} kind
 */
export function itemsOf(panel, kind) {
  return panel.locator(`.timeline [data-kind="${kind}"]`);
}

/** The question whether a tool may run that waits for an answer. @param {Panel} panel */
export function approval(panel) {
  return panel.getByRole("group", { name: /^Approval/ });
}

/** Answer it by a click. @param {Panel} panel @param {string | RegExp} answer what its button says */
export async function answerApproval(panel, answer) {
  await approval(panel).getByRole("button", { name: answer }).click();
}
