/**
 * Whether everybody can use what the panel shows: axe looks at its page whenever a picture is taken of a window. VS Code's own parts around it are not
 * ours to judge.
 */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** @typedef {{id: string, help: string, nodes: {html: string, target: string[], failureSummary: string}[]}} Violation */

/** @type {Promise<string> | undefined} */
let axe;

/** The panel's own frame, if it is shown and drawn. @param {import("playwright-core").Page} page */
async function panelFrame(page) {
  for (const frame of page.frames()) {
    if (frame.name().endsWith("-frame") && (await frame.evaluate(() => document.querySelector(".composer") !== null).catch(() => false)))
      return frame;
  }
  return undefined;
}

/** @throws what axe finds in the panel, if it is shown. @param {import("playwright-core").Page} page @param {string} state what the picture shows */
export async function everybodyCanUse(page, state) {
  const frame = await panelFrame(page);
  if (frame === undefined) return;
  axe ??= readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  if (!(await frame.evaluate(() => "axe" in globalThis))) await frame.evaluate(await axe);
  const found = await frame.evaluate(
    /** @returns {Promise<Violation[]>} */
    async () => (await /** @type {any} */ (globalThis).axe.run({ resultTypes: ["violations"], iframes: false })).violations,
  );
  if (found.length === 0) return;
  const told = found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
  throw new Error(`axe finds in the panel of ${state}:\n${told.join("\n")}`);
}
