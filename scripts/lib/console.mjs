/** What the scripts print: titles, steps with their duration, and failures that say what to do. */

const colours = process.stdout.isTTY && !process.env["NO_COLOR"];

/** An error whose message is all that the user needs; it is shown without a stack. */
export class Failure extends Error {}

/** @param {string} text */
export const bold = (text) => (colours ? `\u001b[1m${text}\u001b[0m` : text);

/** @param {string} text */
export const dim = (text) => (colours ? `\u001b[2m${text}\u001b[0m` : text);

/** @param {string} text */
export const red = (text) => (colours ? `\u001b[31m${text}\u001b[0m` : text);

/** @param {string} text */
export const green = (text) => (colours ? `\u001b[32m${text}\u001b[0m` : text);

/** Seconds since a moment, with one decimal. @param {number} since milliseconds, as Date.now() gives them */
export const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/**
 * Do something that takes a while, saying so before and after.
 *
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
export async function step(title, action) {
  const since = Date.now();
  console.log(`${bold("·")} ${title} …`);
  const result = await action();
  console.log(dim(`  done in ${seconds(since)}`));
  return result;
}

/**
 * Run a script's main function: its result is the exit code; a Failure is shown as its message alone.
 *
 * @param {() => Promise<number>} body
 */
export async function main(body) {
  try {
    process.exitCode = await body();
  } catch (error) {
    console.error(red(error instanceof Failure ? error.message : String(error instanceof Error ? error.stack : error)));
    process.exitCode = 1;
  }
}
