/** What a window left behind, in words: where tests run for others to see, only their output is there. */

import { readFile } from "node:fs/promises";

/** Characters of the log that are shown. */
const TAIL = 3_000;

/**
 * The servers that are still there, each with the processes above it, and the end of what the extension logged.
 *
 * @param {import("./vscode.mjs").OpenVsCode} vscode
 */
export async function whatIsLeft(vscode) {
  const lines = await Promise.all((await vscode.servers()).map(lineOf));
  const log = (await vscode.log()).slice(-TAIL);
  return `Processes, each with its parents:\n${lines.join("\n")}\nThe end of the log:\n${log}`;
}

/** @param {number} pid @returns {Promise<string>} */
async function lineOf(pid) {
  /** @type {string[]} */
  const words = [];
  for (let each = pid; each > 1; each = await parentOf(each)) {
    const command = await readFile(`/proc/${each}/cmdline`, "utf8").catch(() => "has ended");
    words.push(`${"  ".repeat(words.length)}${each} ${command.replaceAll("\0", " ").trim()}`);
  }
  return words.join("\n");
}

/** @param {number} pid @returns {Promise<number>} 0 if there is none */
async function parentOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? 0);
}
