/** Claude in Amazon Bedrock and Google Vertex AI: connected by the dialogue, with the credentials that the clouds' own tools keep. */

import { after } from "node:test";
import { startFakeApi } from "./harness/fake-api.mjs";
import { itemsOf, openPanel, sendAndFinish } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { ACCOUNTS } from "./harness/surroundings.mjs";
import { runCommand } from "./harness/workbench.mjs";

const bedrock = await startFakeApi({ cloud: "bedrock", account: ACCOUNTS });
const vertex = await startFakeApi({ cloud: "vertex", account: ACCOUNTS });
after(() => Promise.all([bedrock.stop(), vertex.stop()]));

/** As for a user who has connected nothing yet. Region and project that they enter are settings of the machine, and gone when these are replaced. */
const settings = {
  "ullage.model.provider": "practice",
  "ullage.model.baseUrl": "",
  "ullage.bedrock.baseUrl": bedrock.url,
  "ullage.vertex.baseUrl": `${vertex.url}/v1`,
};

stage("clouds", {}, (scenario) => {
  scenario("Bedrock is connected by its region, and answers", { settings, goesOn: true }, async ({ page, screenshot }) => {
    const panel = await openPanel(page);
    await runCommand(page, "Ullage: Connect a model", "Amazon Bedrock");
    const box = page.locator(".quick-input-widget:visible");
    await box.getByText("Region of AWS").waitFor();
    await screenshot("1-region");
    await page.keyboard.press("Enter");
    await box.getByText(/is asked in a region, and none is set/).waitFor();
    await screenshot("2-no-region");
    await page.keyboard.type("us-east-1");
    await page.keyboard.press("Enter");
    const offered = page.locator(".quick-input-list .monaco-list-row");
    await offered.filter({ hasText: "global.anthropic.claude-sonnet-5-5" }).first().waitFor();
    await screenshot("3-models");
    await offered.filter({ hasText: "global.anthropic.claude-sonnet-5-5" }).first().click();
    await bedrock.enqueue({ say: "The dip is four." });
    await sendAndFinish(panel, "How much is the dip?");
    await itemsOf(panel, "assistant").getByText("The dip is four.").waitFor();
    await screenshot("4-answered");
  });

  scenario("Vertex is connected by its project and region, and answers", { settings, goesOn: true }, async ({ page, screenshot }) => {
    const panel = await openPanel(page);
    await runCommand(page, "Ullage: Connect a model", "Google Vertex AI");
    const box = page.locator(".quick-input-widget:visible");
    await box.getByText("Id of the project").waitFor();
    await page.keyboard.type("test-project");
    await page.keyboard.press("Enter");
    await box.getByText("Region of Google Cloud").waitFor();
    await screenshot("1-region");
    await page.keyboard.press("Enter");
    const offered = page.locator(".quick-input-list .monaco-list-row");
    await offered.filter({ hasText: "claude-opus-5-5" }).first().waitFor();
    await screenshot("2-models");
    await offered.filter({ hasText: "claude-opus-5-5" }).first().click();
    await vertex.enqueue({ say: "The dip is five." });
    await sendAndFinish(panel, "How much is the dip?");
    await screenshot("3-answered");
    await itemsOf(panel, "assistant").getByText("The dip is five.").waitFor();
  });
});
