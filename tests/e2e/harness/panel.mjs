/** The chat panel: the document inside the two frames that VS Code puts around a webview. */

import { runCommand } from "./workbench.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("playwright-core").FrameLocator} FrameLocator */

/** Show the panel and wait until its prompt box is there. @param {Page} page @returns {Promise<FrameLocator>} */
export async function openPanel(page) {
  await runCommand(page, "Ullage: Open chat");
  const panel = panelOf(page);
  await promptBox(panel).waitFor();
  return panel;
}

/** The document of the panel, which need not be there yet. @param {Page} page @returns {FrameLocator} */
export function panelOf(page) {
  return page.frameLocator("iframe.webview").frameLocator("iframe#active-frame");
}

/** @param {FrameLocator} panel */
export function promptBox(panel) {
  return panel.getByRole("textbox").first();
}

/** Write a prompt and send it. @param {FrameLocator} panel @param {string} text */
export async function sendPrompt(panel, text) {
  await promptBox(panel).fill(text);
  await promptBox(panel).press("Enter");
}
