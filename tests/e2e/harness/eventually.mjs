/** Waiting for a condition that nobody announces: something in the window, on disk, or in another process. */

import { setTimeout as delay } from "node:timers/promises";

/**
 * Wait until a condition holds, or fail with what was waited for.
 *
 * @param {() => boolean | Promise<boolean>} condition
 * @param {string} what the condition in words, for the error
 * @param {number} [limit] milliseconds
 */
export async function expectEventually(condition, what, limit = 15_000) {
  const until = Date.now() + limit;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error(`Not within ${limit / 1000} s: ${what}`);
    await delay(50);
  }
}
