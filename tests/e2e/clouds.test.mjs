/** Claude in Amazon Bedrock and Google Vertex AI: connected by the dialogue, with the credentials that the clouds' own tools keep. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { startFakeApi } from "./harness/fake-api.mjs";
import { itemsOf, openPanel, sendAndFinish } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { runCommand } from "./harness/workbench.mjs";

const accounts = await mkdtemp(join(tmpdir(), "ullage-accounts-"));
const bedrock = await startFakeApi({ cloud: "bedrock", account: accounts });
const vertex = await startFakeApi({ cloud: "vertex", account: accounts });
after(async () => {
  await Promise.all([bedrock.stop(), vertex.stop()]);
  await rm(accounts, { recursive: true });
});

/** The machine's own credentials and regions count for nothing. */
const env = {
  AWS_SHARED_CREDENTIALS_FILE: join(accounts, "credentials"),
  AWS_CONFIG_FILE: join(accounts, "none"),
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_REGION: "",
  AWS_DEFAULT_REGION: "",
  AWS_PROFILE: "default",
  AWS_BEARER_TOKEN_BEDROCK: "",
  GOOGLE_APPLICATION_CREDENTIALS: join(accounts, "account.json"),
  GOOGLE_CLOUD_PROJECT: "",
  CLOUD_ML_REGION: "",
  NO_GCE_CHECK: "true",
};

const settings = { "ullage.bedrock.baseUrl": bedrock.url, "ullage.vertex.baseUrl": `${vertex.url}/v1` };

stage("clouds", { practice: true, env }, (scenario) => {
  scenario("Bedrock is connected by its region, and answers", { settings }, async ({ page, screenshot }) => {
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
