/** Sub-agents in the panel: their cards while they work, one that is stopped, and the log of one that is done. */

import assert from "node:assert/strict";
import { expectEventually } from "./harness/eventually.mjs";
import { itemsOf, openPanel, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { resizePanel } from "./harness/workbench.mjs";

/** @param {string} title @param {string} prompt */
const task = (title, prompt) => ({ call: "task", input: { title, prompt } });

stage("sub-agents", {}, (scenario) => {
  scenario(
    "two work side by side: one is stopped, the other reports, and its log opens and leads back",
    {},
    async ({ page, api, screenshot }) => {
      await api.addRules(
        // last user text: the prompt of a sub-agent comes with the mode that it is told of
        { when: "AGENT-ONE", outcome: [{ say: "I look into it." }, { call: "list_files", input: {} }], times: 1 },
        { when: "AGENT-TWO", outcome: { hang: { say: "Never said." } } },
      );
      await api.enqueue(
        [{ say: "I have two look." }, task("Find the gauge", "AGENT-ONE"), task("Find the tank", "AGENT-TWO")],
        { say: "The gauge is in tankgauge/gauge.py:1." },
        { say: "One of them knows." },
      );
      const panel = await openPanel(page);
      await sendPrompt(panel, "Where are gauge and tank?");
      const cards = itemsOf(panel, "toolCall").filter({ has: panel.locator(".agent") });
      await expectEventually(async () => (await cards.count()) === 2, "both have a card");
      const stop = panel.getByRole("button", { name: "Stop the sub-agent" });
      await expectEventually(async () => (await stop.count()) === 1, "one is done, and one still works");
      await screenshot("1-at-work");
      await stop.click();
      await turnIsOver(panel);
      await resizePanel(page, 300);
      await screenshot("2-done-narrow");
      const texts = await panel.locator(".timeline").innerText();
      assert.ok(texts.includes("One of them knows."));
      await cards.nth(0).getByRole("button", { name: "Open log" }).click();
      const back = panel.getByRole("button", { name: "Log of a sub-agent" });
      await expectEventually(() => back.isVisible(), "the log of the sub-agent is open");
      await expectEventually(
        async () => (await panel.locator(".timeline").innerText()).includes("The user did not type this"),
        "its task is not the user's",
      );
      await screenshot("3-log");
      await back.click();
      await expectEventually(async () => (await cards.count()) === 2, "back in its session");
    },
  );
});
