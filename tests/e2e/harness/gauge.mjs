/** The gauge in the status bar. */

import { expectEventually } from "./eventually.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** The status bar item. Its element is named after the extension and the id that the extension gave it. @param {Page} page */
export function gauge(page) {
  return page.locator('.statusbar-item[id$=".ullage.gauge"]');
}

/** What it shows, in percent; undefined while it shows none. @param {Page} page @returns {Promise<number | undefined>} */
export async function gaugePercent(page) {
  const shown = await gauge(page)
    .innerText({ timeout: 1_000 })
    .catch(() => "");
  const digits = /(\d+(?:\.\d+)?)\s*%/.exec(shown)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Wait until the percentage fulfils a condition, and give it.
 *
 * @param {Page} page
 * @param {(percent: number) => boolean} condition
 * @param {string} what the condition in words
 * @param {number} [limit] milliseconds
 */
export async function gaugeReaches(page, condition, what, limit) {
  /** @type {number | undefined} */
  let percent;
  await expectEventually(
    async () => {
      percent = await gaugePercent(page);
      return percent !== undefined && condition(percent);
    },
    `the gauge is ${what}`,
    limit,
  );
  return percent ?? 0;
}

/** Wait until it shows what the model reported, and no estimate, and give the percentage. @param {Page} page */
export async function gaugeIsPriced(page) {
  await expectEventually(async () => /^[^~]*\d%/.test(await gauge(page).innerText()), "the gauge shows no estimate");
  return (await gaugePercent(page)) ?? 0;
}

/** Click it, which compacts, and move on: what it says at the pointer would lie over the panel. @param {Page} page */
export async function clickGauge(page) {
  await gauge(page).locator("a").click();
  await page.mouse.move(0, 0);
}

/** What it says when the pointer rests on it. @param {Page} page @returns {Promise<string>} */
export async function gaugeTooltip(page) {
  await gauge(page).hover();
  const tooltip = page.locator(".monaco-hover").filter({ hasText: "tokens" }).first();
  await tooltip.waitFor();
  return tooltip.innerText();
}
