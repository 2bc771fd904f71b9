/** What is there when VS Code opens, before anybody has done anything. */

import assert from "node:assert/strict";
import { editorShows, isUnsaved, openFile, revertFile, typeAtLine } from "./harness/workbench.mjs";
import { gauge, gaugeReaches } from "./harness/gauge.mjs";
import { openPanel } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";

stage("opening", {}, (scenario) => {
  scenario("the gauge is visible before any prompt, and the panel opens", {}, async ({ page, screenshot }) => {
    await gauge(page).waitFor();
    await gaugeReaches(page, (percent) => percent >= 0 && percent < 75, "a share of the line");
    await openPanel(page);
    await screenshot("opened");
  });

  scenario("a file opens and takes what is typed", { goesOn: true }, async ({ page, screenshot }) => {
    await openFile(page, "tankgauge/tank.py");
    await typeAtLine(page, 1, "# typed by a user\n");
    await editorShows(page, "# typed by a user");
    assert.equal(await isUnsaved(page), true);
    await screenshot("typed");
    await revertFile(page);
  });
});
