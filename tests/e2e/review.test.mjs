/** Reviewing what the agent changed: the tray, the diff, keeping and undoing in the file, and what the user typed in between. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expectEventually } from "./harness/eventually.mjs";
import { answerApproval, approval, itemsOf, openPanel, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, editorText, openFile, runCommand, typeAtLine } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";
const READ = { call: "read_file", input: { path: FILE } };

/** @param {string} oldText @param {string} newText */
const edit = (oldText, newText) => ({ call: "edit_file", input: { path: FILE, old_text: oldText, new_text: newText } });

const MENDED = edit("from __future__ import annotations", "# mended by the agent\nfrom __future__ import annotations");
const CREATED = { call: "write_file", input: { path: "docs/agent.md", content: "# By the agent\n\nOne line.\n" } };

/** @param {import("playwright-core").FrameLocator} panel */
const tray = (panel) => panel.getByRole("region", { name: "Changes of the agent" });

/** @param {import("./harness/stage.mjs").Scene} scene @param {object[]} calls */
async function letItWork({ api, page }, calls) {
  await api.enqueue([READ], ...calls.map((call) => [call]), { say: "It is done." });
  const panel = await openPanel(page);
  await sendPrompt(panel, "Mend the tank");
  for (let index = 0; index < calls.length; index += 1) {
    await answerApproval(panel, "Allow once");
    await approval(panel).waitFor({ state: "detached" });
  }
  await turnIsOver(panel);
  return panel;
}

stage("reviewing", {}, (scenario) => {
  scenario("the changes of a turn stand above the prompt, and are taken back", {}, async (scene) => {
    const { page, workspace, screenshot } = scene;
    const before = await onDisk(workspace);
    const panel = await letItWork(scene, [MENDED, CREATED]);
    await tray(panel).getByText("2 files changed").waitFor();
    await itemsOf(panel, "assistant").last().getByText("Changed 2 files").waitFor();
    await screenshot("1-tray");
    await tray(panel)
      .getByRole("button", { name: /2 files changed/ })
      .click();
    await tray(panel).getByText("agent.md").waitFor();
    await screenshot("2-unfolded");
    await tray(panel).getByRole("button", { name: "Undo all" }).click();
    await page.getByRole("button", { name: "Undo All" }).click();
    await tray(panel).waitFor({ state: "hidden" });
    assert.equal(await onDisk(workspace), before);
    await assert.rejects(readFile(join(workspace, "docs/agent.md")));
    await screenshot("3-undone");
  });
});

/** @param {string} workspace */
function onDisk(workspace) {
  return readFile(join(workspace, FILE), "utf8");
}
void [expectEventually, editorShows, editorText, openFile, runCommand, typeAtLine];
