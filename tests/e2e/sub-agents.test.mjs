/** Sub-agents in the panel: their cards while they work, one that is stopped, the log of one that is done, and one that acts. */

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectEventually } from "./harness/eventually.mjs";
import { answerApproval, approval, itemsOf, openPanel, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { resizePanel, runCommand } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";
const DEFINITION = "---\nname: fixer\ndescription: Mends things.\ntools: Read, Edit, Bash\n---\nYou mend what you are told to.\n";
const MEND = { call: "task", input: { title: "Mend the tank", prompt: "Say at the top who mended it", agent: "fixer" } };
const READ = { call: "read_file", input: { path: FILE } };
const MENDED = {
  call: "edit_file",
  input: {
    path: FILE,
    old_text: "from __future__ import annotations",
    new_text: "# mended by the fixer\nfrom __future__ import annotations",
  },
};
const RUN = { call: "bash", input: { command: "cd tests && python3 make.py > /tmp/made" } };

/** A sub-agent of the project that acts. @param {string} folder */
async function defineFixer(folder) {
  await mkdir(join(folder, ".claude/agents"), { recursive: true });
  await writeFile(join(folder, ".claude/agents/fixer.md"), DEFINITION);
}

/** @param {string} title @param {string} prompt */
const task = (title, prompt) => ({ call: "task", input: { title, prompt } });

stage("sub-agents", {}, (scenario) => {
  scenario(
    "two work side by side: one is stopped, the other reports, and its log opens and leads back",
    { goesOn: true },
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
      const done = panel.locator(".tool.completed").filter({ has: panel.locator(".agent") });
      await done.waitFor(); // one that has not begun cannot be stopped either
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

  scenario(
    "one of the project acts: it is allowed once, asks in its parent, and what it changed is undone there",
    { goesOn: true, prepare: defineFixer },
    async ({ page, api, workspace, settings, screenshot }) => {
      const before = await readFile(join(workspace, FILE), "utf8");
      await api.enqueue([{ say: "I have it mended." }, MEND], [READ], [MENDED], { say: "It says so now." }, { say: "It is mended." });
      const panel = await openPanel(page);
      await sendPrompt(panel, "Mend it");
      await approval(panel).getByText("as .claude/agents/fixer.md of this project tells it to").waitFor();
      await screenshot("1-may-it-act");
      await answerApproval(panel, /^Always allow/);
      const asked = approval(panel).filter({ hasText: "The sub-agent fixer asks" });
      await asked.waitFor();
      await panel.locator(".tool-diff").getByText("# mended by the fixer").waitFor();
      assert.equal(await panel.getByRole("button", { name: "Stop the sub-agent fixer" }).count(), 1);
      await screenshot("2-edit-asked-light");
      await resizePanel(page, 300);
      await screenshot("3-edit-asked-narrow");
      await settings({ "workbench.colorTheme": "Default Dark Modern" });
      await panel.locator("body.vscode-dark").waitFor();
      await screenshot("4-edit-asked-narrow-dark");
      await resizePanel(page, 440);
      await screenshot("5-edit-asked-dark");
      await answerApproval(panel, "Allow once");
      await turnIsOver(panel);
      assert.match(await readFile(join(workspace, FILE), "utf8"), /# mended by the fixer/);
      await panel.getByText("Changed 1 file").first().waitFor();
      await screenshot("6-mended-dark");
      await panel.locator(".turn-changes").getByRole("button", { name: "Undo" }).click();
      await expectEventually(async () => (await readFile(join(workspace, FILE), "utf8")) === before, "its change is undone");
      await settings({});
      await panel.locator("body.vscode-light").waitFor();

      await api.enqueue([MEND], [RUN], { say: "I may not." }, { say: "Then not." });
      await sendPrompt(panel, "Make it");
      await approval(panel).getByText("The sub-agent fixer asks").waitFor(); // the project is not asked about again
      await approval(panel).getByText("Run this command?").waitFor();
      await panel.locator(".tool-input").getByText("cd tests && python3 make.py > /tmp/made").waitFor();
      await screenshot("7-command-asked");
      await answerApproval(panel, "Refuse");
      await turnIsOver(panel);
      await runCommand(page, "Ullage: Permissions");
      await panel.getByText("Lets the sub-agent that").waitFor();
      await screenshot("8-its-rule");
    },
  );
});
