/** What one points at in the editor goes into the prompt: lines, files, folders, problems. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectEventually } from "./harness/eventually.mjs";
import { gauge } from "./harness/gauge.mjs";
import { itemsOf, openPanel, promptBox, sendAndFinish, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { openFile } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";
const BROKEN = '{\n  "dip": 1\n  "depth": 2\n}\n';

stage("from the editor", {}, (scenario) => {
  scenario("selected lines and a folder go into the prompt", {}, async ({ page, api, screenshot }) => {
    await api.enqueue({ say: "I see three lines." });
    const panel = await openPanel(page);
    await openFile(page, FILE);
    await page.keyboard.press("Control+Home");
    for (let line = 0; line < 3; line += 1) {
      await page.keyboard.press("Shift+ArrowDown");
    }
    await gauge(page).waitFor(); // the menu is made when it opens, and has nothing of Ullage before the server is there
    await page.locator(".monaco-editor .view-line").nth(1).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Add to Ullage" }).hover();
    await page.keyboard.press("Enter"); // a menu that has just opened takes a click for the end of the one that opened it
    const chips = panel.locator(".composer .chip");
    await expectEventually(async () => (await chips.allInnerTexts()).join().includes("tank.py:1-3"), "the lines stand in the prompt box");
    await promptBox(panel).pressSequentially("@docs");
    await screenshot("1-offered");
    await panel.locator('[role="option"]').filter({ hasText: "docs" }).first().click();
    await expectEventually(async () => (await chips.count()) === 2, "the folder stands beside them");
    await screenshot("2-attached");
    await sendAndFinish(panel, "What do these do?");
    const asked = JSON.stringify((await api.calls()).at(-1)?.body.messages[0]);
    assert.match(asked, /tank\.py:1-3/);
    assert.match(asked, /docs\//);
    await screenshot("3-sent");
  });

  scenario("a problem is explained from where the editor shows it", { goesOn: true }, async ({ page, api, workspace, screenshot }) => {
    await api.enqueue({ say: "A comma is missing." });
    await writeFile(join(workspace, "broken.json"), BROKEN);
    const panel = await openPanel(page);
    await page.getByRole("treeitem", { name: /^broken\.json/ }).dblclick(); // the list of quick open comes later
    const squiggle = page.locator(".squiggly-error").first();
    await squiggle.waitFor();
    await page.keyboard.press("F8");
    await page.keyboard.press("Escape");
    await page.locator('[class*="lightbulb" i], .lightBulbWidget').first().waitFor(); // it is known by now what there is to do
    await page.keyboard.press("Control+.");
    const explain = page.getByText("Explain with Ullage");
    await explain.waitFor();
    await screenshot("1-offered");
    await explain.click();
    await itemsOf(panel, "assistant").getByText("A comma is missing.").waitFor();
    await turnIsOver(panel);
    const asked = JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));
    assert.match(asked, /Explain the attached problem/);
    assert.match(asked, /broken\.json:3: /);
    assert.match(asked, /Expected comma/);
    await screenshot("2-explained");
  });
});
