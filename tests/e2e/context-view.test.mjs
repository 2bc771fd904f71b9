/** The context view in VS Code, of a log that can only be read. What is done from its rows: `gauge.test.mjs`. */

import assert from "node:assert/strict";
import { expectEventually } from "./harness/eventually.mjs";
import { itemsOf, openPanel, sendAndFinish } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";

/** @typedef {import("playwright-core").Locator} Locator */

stage("context-view", {}, (scenario) => {
  scenario("the log of a sub-agent offers nothing that cannot be done in it", {}, async (scene) => {
    const { page, api, screenshot } = scene;
    await api.addRules({ when: "AGENT-LOOKS", outcome: [{ say: "I look into it." }, { call: "list_files", input: {} }], times: 1 });
    await api.enqueue(
      [{ call: "task", input: { title: "Find the gauge", prompt: "AGENT-LOOKS" } }],
      { say: "In gauge.py." },
      { say: "There." },
    );
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Where is the gauge?");
    await itemsOf(panel, "toolCall").first().getByRole("button", { name: "Open log" }).click();
    await panel.getByRole("button", { name: "Log of a sub-agent" }).waitFor();
    await itemsOf(panel, "assistant").first().hover();
    await expectEventually(async () => (await shown(panel.locator(".changes-session"))) === 0, "no button changes anything");
    await screenshot("6-log");
    await panel.locator(".meter").click();
    const view = panel.locator(".context-view");
    await view.locator(".part-row").first().waitFor();
    assert.equal(await view.locator(".part-pin, .part-exclude, .part-clear").count(), 0);
    assert.equal(await panel.getByRole("button", { name: "Compact now" }).isVisible(), false);
    await screenshot("7-read-only");
    await page.keyboard.press("Escape");
    await panel.getByRole("button", { name: "Log of a sub-agent" }).click();
  });
});

/** How many of them can be seen. @param {Locator} buttons */
async function shown(buttons) {
  return buttons.evaluateAll((all) => all.filter((each) => /** @type {HTMLElement} */ (each).offsetParent !== null).length);
}
