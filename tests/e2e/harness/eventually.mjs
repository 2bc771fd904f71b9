/** Waiting for a condition that nobody announces: something in the window, on disk, or in another process. */

import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds between two looks. What takes longer is looked at less often. */
const SHORTEST = 50;
const LONGEST = 500;

/**
 * Wait until a condition holds, or fail with what was waited for.
 *
 * @param {() => boolean | Promise<boolean>} condition
 * @param {string} what the condition in words, for the error
 * @param {number} [limit] milliseconds
 */
export async function expectEventually(condition, what, limit = 60_000) {
  const since = Date.now();
  while (!(await condition())) {
    const waited = Date.now() - since;
    if (waited > limit) throw new Error(`Not within ${limit / 1000} s: ${what}`);
    await delay(Math.max(SHORTEST, Math.min(waited / 10, LONGEST))); // to look takes the processor from what is waited for
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
