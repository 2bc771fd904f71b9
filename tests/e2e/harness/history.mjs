/** What a user does with the history of a conversation in the panel: preview, timeline, pins, search. */

import { expectEventually } from "./eventually.mjs";
import { sendPrompt } from "./panel.mjs";
import { runCommand } from "./workbench.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("./panel.mjs").Panel} Panel */
/** @typedef {import("playwright-core").Locator} Locator */

/** The sheet over the conversation that shows the preview of a compaction. @param {Panel} panel */
export function previewOf(panel) {
  return panel.getByRole("region", { name: "What compacting would do" });
}

/** The sheet over the conversation that shows its epochs. @param {Panel} panel */
export function timelineOf(panel) {
  return panel.getByRole("region", { name: "Timeline" });
}

/** Open the timeline and wait until it is drawn. @param {Page} page @param {Panel} panel */
export async function openTimeline(page, panel) {
  await runCommand(page, "Ullage: Show timeline");
  await timelineOf(panel).locator(".epoch").first().waitFor();
  return timelineOf(panel);
}

/** Click one of the buttons that appear at an item when the pointer is over it. @param {Locator} item @param {RegExp} name */
export async function clickAtItem(item, name) {
  await item.hover();
  await item.getByRole("button", { name }).click();
}

/** The item that the user was led to. @param {Panel} panel */
export function revealed(panel) {
  return panel.locator(".timeline .item.revealed:focus");
}

/**
 * Open the search over all sessions, type, and give the row that shows a text.
 *
 * @param {Page} page
 * @param {Panel} panel
 * @param {string} words
 * @param {string} shown
 */
export async function searchFor(page, panel, words, shown) {
  await sendPrompt(panel, `/search ${words.slice(0, 3)}`);
  const box = page.getByPlaceholder("Words that were said or returned");
  await expectEventually(async () => (await box.inputValue()) === words.slice(0, 3), "the search begins with what was typed");
  await box.press("End");
  await box.pressSequentially(words.slice(3));
  const row = page.locator(".quick-input-list .monaco-list-row").filter({ hasText: shown }).first();
  await row.waitFor();
  return row;
}

/** The messages of a request without the marks of the cache, which move. @param {import("./fake-api.mjs").RecordedRequest | undefined} request @returns {any[]} */
export function messagesOf(request) {
  return JSON.parse(JSON.stringify(request?.body.messages ?? [], (key, value) => (key === "cache_control" ? undefined : value)));
}

/** The requests for a reply that were accepted. @param {import("./fake-api.mjs").FakeApi} api */
export async function repliesAsked(api) {
  return (await api.calls()).filter(({ status }) => status === 200);
}
