/** MCP servers in VS Code: allowed by the user, run, used by the agent and in prompts, turned off, lost, and changed by the workspace. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, VENV_PYTHON } from "../../scripts/lib/paths.mjs";
import { answerApproval, approval, itemsOf, openPanel, promptBox, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, isUnsaved, notification, resizePanel, runCommand } from "./harness/workbench.mjs";

/** @typedef {import("playwright-core").Page} Page */

const GIT = { command: VENV_PYTHON, args: ["-m", "mcp_server_git"] };

/** @param {...string} options */
const pumps = (...options) => ({ command: VENV_PYTHON, args: ["-I", join(ROOT, "tests", "fake_mcp", "server.py"), ...options] });

/** @param {Record<string, object>} mcpServers */
const writes = (mcpServers) => async (/** @type {string} */ folder) => {
  await writeFile(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
};

/** @param {string} tool @param {object} input */
const call = (tool, input) => ({ call: "call_mcp_tool", input: { server: "pumps", tool, arguments: input } });

/** What stands in the list for a server. @param {Page} page @param {string} name */
const row = (page, name) => page.locator(".quick-input-list .monaco-list-row").filter({ hasText: new RegExp(`^\\W*${name}`) });

/** Opens the list and chooses what to do with a server. @param {Page} page @param {string} name @param {string} what */
async function choose(page, name, what) {
  await runCommand(page, "Ullage: MCP servers", name);
  await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: what }).first().click();
}

stage("mcp", {}, (scenario) => {
  scenario(
    "servers of the workspace are allowed one by one, run, are used, turned off, die and are changed",
    { goesOn: true, prepare: writes({ git: GIT, pumps: pumps() }), settings: { "workbench.colorTheme": "Default Dark Modern" } },
    async ({ page, api, workspace, screenshot }) => {
      const panel = await openPanel(page);
      await runCommand(page, "Ullage: Restart server"); // it finds them as it starts
      const told = notification(page, "2 MCP servers are configured here: git, pumps. They do nothing before you allow them.");
      await told.waitFor();
      await screenshot("1-told");
      await told.getByRole("button", { name: "Show servers" }).click();
      await row(page, "pumps").getByText("not started: you have not trusted it").waitFor();
      await row(page, "git").getByText("mcp_server_git").waitFor();
      await screenshot("2-not-allowed");
      await row(page, "pumps").click();
      await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "Turn on" }).first().click();
      const dialog = page.locator(".monaco-dialog-box");
      await dialog.getByText(".mcp.json says how it is started.").waitFor();
      await dialog.getByText(`${VENV_PYTHON} -I`).waitFor();
      await screenshot("3-what-it-would-run");
      await dialog.getByRole("button", { name: "Trust and start" }).click();
      await row(page, "pumps")
        .getByText(/\d+ tools · 2 prompts · 1 resource · \d+ tokens in the index/)
        .waitFor(); // the list follows what becomes of it
      await row(page, "git").getByText("not started").waitFor();
      await screenshot("4-running");
      await page.keyboard.press("Escape");

      await choose(page, "pumps", "Show tools");
      await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "Says what it is told." }).waitFor();
      await screenshot("5-tools");
      await page.keyboard.press("Escape");

      await api.enqueue([call("echo", { text: "The valve is open." })], { say: "It is open." });
      await sendPrompt(panel, "Is the valve open?");
      await approval(panel)
        .getByText(/Call the tool/)
        .waitFor();
      await screenshot("6-asked");
      await answerApproval(panel, "Allow once");
      await turnIsOver(panel);
      await itemsOf(panel, "assistant").getByText("It is open.").waitFor();
      await screenshot("7-called");

      await promptBox(panel).pressSequentially("/pumps");
      await panel.getByRole("option", { name: "/pumps:inspect [tank]" }).waitFor();
      await screenshot("8-prompts");
      await promptBox(panel).fill("");
      await api.enqueue({ say: "Inspected." });
      await sendAndFinish(panel, "/pumps:inspect B");
      assert.match(JSON.stringify((await api.requests()).at(-1)?.body), /It says:\\n\\nInspect B\./);

      await promptBox(panel).pressSequentially("How? @man");
      await panel.getByRole("option", { name: /pumps:manual/ }).waitFor();
      await screenshot("9-resources");
      await panel.getByRole("option", { name: /pumps:manual/ }).click();
      await api.enqueue({ say: "Valve first." });
      await promptBox(panel).press("Enter");
      await itemsOf(panel, "assistant").getByText("Valve first.").waitFor();
      await turnIsOver(panel);
      assert.match(JSON.stringify((await api.requests()).at(-1)?.body), /Open the valve first\./);
      await screenshot("10-attached");

      await choose(page, "pumps", "Turn off");
      await row(page, "pumps").getByText("off", { exact: true }).waitFor();
      await screenshot("11-off");
      await page.keyboard.press("Escape");
      await choose(page, "pumps", "Turn on"); // what was allowed is not asked about again
      await row(page, "pumps")
        .getByText(/\d+ tools/)
        .waitFor();
      await page.keyboard.press("Escape");

      await api.enqueue([call("die", {})], { say: "It is gone." });
      await sendPrompt(panel, "Does it hold?");
      await answerApproval(panel, "Allow once");
      await itemsOf(panel, "assistant").getByText("It is gone.").waitFor();
      await turnIsOver(panel);
      const died = itemsOf(panel, "toolCall").filter({ hasText: "die of pumps" });
      await died.getByText("die of pumps").first().click();
      await died
        .getByText(/ended before it answered: it ended with exit code 7: Something broke/)
        .first()
        .waitFor();
      await resizePanel(page, 300);
      await screenshot("12-died-narrow");
      await runCommand(page, "Ullage: MCP servers");
      await row(page, "pumps")
        .getByText(/\d+ tools/)
        .waitFor(); // it was started again by itself
      await page.keyboard.press("Escape");
      await choose(page, "pumps", "Show log");
      await editorShows(page, "it ended with exit code 7: Something broke");
      assert.equal(await isUnsaved(page), false); // a log is nothing to save
      await screenshot("13-log");

      await writes({ git: GIT, pumps: pumps("tools=3") })(workspace);
      await runCommand(page, "Ullage: MCP servers");
      await row(page, "pumps").getByText("not started: you have not trusted it").waitFor();
      await screenshot("14-changed");
      await page.keyboard.press("Escape");
    },
  );
});
