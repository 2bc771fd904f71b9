/** VS Code's own language models: another extension brings one, and the agent works with it, without a key. */

import { expectEventually } from "./harness/eventually.mjs";
import { clickGauge, gauge } from "./harness/gauge.mjs";
import { answerApproval, itemsOf, openPanel, promptBox, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { runCommand } from "./harness/workbench.mjs";

stage("the editor's models", {}, (scenario) => {
  scenario("a language model of VS Code answers", { goesOn: true }, async ({ page, api, settings, screenshot }) => {
    const panel = await openPanel(page);
    await runCommand(page, "Ullage: Connect a model", "VS Code's language models");
    const offered = page.locator(".quick-input-list .monaco-list-row");
    await offered.filter({ hasText: "Other Worker" }).waitFor();
    await expectEventually(
      async () => (await offered.filter({ hasText: "Other Mute" }).count()) === 0,
      "what cannot call tools is not offered",
    );
    await screenshot("1-offered");
    await offered.filter({ hasText: "Other Worker" }).click();
    await panel.getByText("Other Worker").first().waitFor();

    await sendPrompt(panel, "Make a note of the dip.");
    await answerApproval(panel, /Allow once|Accept/);
    await turnIsOver(panel);
    await itemsOf(panel, "assistant").getByText("It is noted.").waitFor();
    await expectEventually(async () => /~\s*\d/.test(await gauge(page).innerText()), "the gauge says that it is an estimate");
    await screenshot("2-a-turn");

    await sendAndFinish(panel, "How much does the tank hold?");
    await sendAndFinish(panel, "How much does it hold now?");
    await clickGauge(page);
    await itemsOf(panel, "compaction")
      .getByText(/^Compacted/)
      .first()
      .waitFor();
    await screenshot("3-compacted");

    await sendPrompt(panel, "What is my quota?");
    await itemsOf(panel, "notice")
      .getByText(/is used up \(You have used up your requests of this month\)/)
      .waitFor();
    await promptBox(panel).waitFor();
    await screenshot("4-quota");

    // Back to a server, for new sessions as well.
    await runCommand(page, "Ullage: Connect a model", "A server, by its address");
    await page.locator(".quick-input-widget input").fill(api.url);
    await page.keyboard.press("Enter");
    await page.getByPlaceholder("Which model answers from now on").waitFor();
    await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "Claude Haiku 5.5" }).first().click();
    await panel.locator("button.model-button").getByText("Claude Haiku 5.5").waitFor();
    await runCommand(page, "Ullage: New session");
    await panel.locator("button.model-button").getByText("Claude Opus 5.5").waitFor();
    await screenshot("5-back");
    await settings({}); // that server is now named by its provider, too, which changes nothing for anybody
  });
});
