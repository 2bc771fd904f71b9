/** Commands that go on: what runs above the prompt box, its output, its port, a stop, one that fails unseen, and what a deletion says. */

import assert from "node:assert/strict";
import { expectEventually } from "./harness/eventually.mjs";
import { answerApproval, itemsOf, openPanel, panelOf, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { notification, resizePanel, runCommand } from "./harness/workbench.mjs";

/** @param {string} command @param {boolean} [background] */
const bash = (command, background = true) => ({ call: "bash", input: { command, ...(background ? { run_in_background: true } : {}) } });

const SERVER = "python3 -u -m http.server 5173 --bind 127.0.0.1";

/** @param {import("./harness/panel.mjs").Panel} panel */
const dock = (panel) => panel.getByRole("region", { name: "Commands in the background" });

stage("running", {}, (scenario) => {
  scenario(
    "what runs is seen, read and stopped, and the agent learns of its end",
    { settings: { "workbench.colorTheme": "Default Dark Modern" }, goesOn: true },
    async ({ page, api, screenshot, settings }) => {
      await api.enqueue([{ say: "I start the server." }, bash(`echo Serving the tanks; ${SERVER}`)], { say: "It is up." });
      const panel = await openPanel(page);
      await sendPrompt(panel, "Start the dev server");
      await answerApproval(panel, "Allow once");
      await turnIsOver(panel);
      const running = dock(panel);
      await running.waitFor();
      await screenshot("1-folded-dark");
      const toggle = running.getByRole("button", { name: "1 command runs" });
      await toggle.press("Enter");
      await expectEventually(async () => (await running.innerText()).includes("Serving"), "the last line is seen");
      await itemsOf(panel, "toolCall").getByRole("button", { name: "Went on in the background as run1" }).waitFor();
      await goesOnUntilTheUserWantsAnotherStore(page, settings, screenshot);
      await screenshot("2-unfolded-dark");
      await resizePanel(page, 300);
      await screenshot("3-narrow-dark");
      await settings({ "workbench.colorTheme": "Default Light Modern" });
      await panel.locator("body.vscode-light").waitFor();
      await screenshot("4-narrow-light");
      await settings({});
      await panel.locator("body.vscode-dark").waitFor();

      await running.getByRole("button", { name: "Open the output of" }).click();
      await expectEventually(
        async () => (await page.locator(".editor-instance .view-lines").innerText()).includes("Serving"),
        "its output is a document",
      );
      await runCommand(page, "View: Close All Editors");
      await running.getByRole("button", { name: /^Stop / }).click();
      await running.waitFor({ state: "hidden" });
      await api.enqueue({ say: "You stopped it." });
      await sendAndFinish(panel, "What now?");
      const newest = (await api.calls()).at(-1);
      assert.match(JSON.stringify(newest), /the user stopped it/);
      await resizePanel(page, 440);
    },
  );

  scenario(
    "a command that is waited for is left running, and its failure is told to who looks elsewhere",
    { goesOn: true },
    async ({ page, api, screenshot }) => {
      await api.enqueue([bash("echo building; sleep 12; echo no rule to make tank >&2; exit 2", false)], { say: "I go on meanwhile." });
      const panel = await openPanel(page);
      await sendPrompt(panel, "Build it");
      await answerApproval(panel, "Allow once");
      const leave = panel.getByRole("button", { name: "Leave it running" });
      await leave.click();
      await turnIsOver(panel);
      assert.match(await panel.locator(".timeline").innerText(), /I go on meanwhile/);
      await runCommand(page, "View: Toggle Secondary Side Bar Visibility");
      const told = notification(page, "In the background");
      await told.waitFor();
      await screenshot("1-told");
      await told.getByRole("button", { name: "Show output" }).click();
      await expectEventually(
        async () => (await page.locator(".editor-instance .view-lines").innerText()).includes("make"),
        "its output is shown",
      );
      await runCommand(page, "View: Toggle Secondary Side Bar Visibility");
      await openPanel(page);
    },
  );
});

/**
 * Another place for sessions counts when the server starts again, which would end the command: so that is asked first.
 *
 * @param {import("playwright-core").Page} page @param {(more: Record<string, unknown>) => Promise<void>} settings
 * @param {(name: string) => Promise<void>} screenshot
 */
async function goesOnUntilTheUserWantsAnotherStore(page, settings, screenshot) {
  const dark = { "workbench.colorTheme": "Default Dark Modern" };
  const dialog = page.locator(".monaco-dialog-box");
  await settings({ ...dark, "ullage.store.url": "postgresql://ann@localhost:9/ullage" });
  await dialog.getByText("1 command runs in the background: it is stopped").waitFor();
  await screenshot("1-asked-before-a-restart");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const kept = dock(panelOf(page));
  await panelOf(page)
    .locator(".banner.warning")
    .getByText(/has changed\. Restart the server/)
    .waitFor();
  await kept.getByRole("button", { name: "1 command runs" }).waitFor();
  await settings(dark);
  await dialog.getByText("1 command runs in the background: it is stopped").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await panelOf(page).locator(".banner.warning").waitFor({ state: "detached" });
  for (const command of ["Ullage: Repair the Python environment", "Ullage: Remove the Python environment"]) {
    await runCommand(page, command);
    await dialog.getByText("1 command runs in the background: it is stopped").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await notification(page, "Nothing was changed").waitFor();
    await runCommand(page, "Notifications: Clear All Notifications");
  }
  await kept.getByRole("button", { name: "1 command runs" }).waitFor();
}
