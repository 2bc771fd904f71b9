/** Waiting for a condition that nobody announces: something in the window, on disk, or in another process. */

import { setTimeout as delay } from "node:timers/promises";

/**
 * Wait until a condition holds, or fail with what was waited for.
 *
 * @param {() => boolean | Promise<boolean>} condition
 * @param {string} what the condition in words, for the error
 * @param {number} [limit] milliseconds
 */
export async function expectEventually(condition, what, limit = 60_000) {
  const until = Date.now() + limit;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error(`Not within ${limit / 1000} s: ${what}`);
    await delay(50);
  }
}

/**
 * Assert that a long text holds another; the failure shows only what is near.
 *
 * @param {string} text
 * @param {string} part
 */
export function assertHolds(text, part) {
  if (text.includes(part)) return;
  const beginning = part.slice(0, 12);
  const at = text.indexOf(beginning);
  const near = at < 0 ? text.slice(-300) : text.slice(Math.max(0, at - 200), at + 300);
  throw new Error(`${JSON.stringify(part)} is not in ${text.length} characters; ${at < 0 ? "their end" : "near"}: ${near}`);
}
