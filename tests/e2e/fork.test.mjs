/** A session is forked: from a message, from a prompt that is written in another way, and from the list. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { assertHolds, expectEventually } from "./harness/eventually.mjs";
import { gaugeIsPriced } from "./harness/gauge.mjs";
import { clickAtItem, messagesOf, repliesAsked } from "./harness/history.mjs";
import { answerApproval, approval, itemsOf, openPanel, promptBox, sendAndFinish, sendPrompt } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { notification, resizePanel, runCommand } from "./harness/workbench.mjs";

/** @typedef {import("./harness/panel.mjs").Panel} Panel */

const READ = { call: "read_file", input: { path: "tankgauge/tank.py" } };

/** @param {Panel} panel */
const title = (panel) => panel.locator(".session-title");

/** @param {Panel} panel */
const origin = (panel) => panel.getByRole("button", { name: /^Forked from/ });

/** How many other sessions want the user, such as what a scenario before did not look at. @param {Panel} panel */
const othersWanting = async (panel) => Number(await panel.locator(".session-others").getAttribute("data-count"));

/** @param {Panel} panel @param {string} name */
const sessionRow = (panel, name) => panel.locator(".session-row").filter({ hasText: name });

/** @param {Element} box */
const hasFocus = (box) => box === box.ownerDocument.activeElement && box.ownerDocument.hasFocus();

/** The cursor has come into the prompt box; a palette that is opened before that closes again. @param {Panel} panel */
async function canWrite(panel) {
  await expectEventually(() => promptBox(panel).evaluate(hasFocus), "the cursor is in the prompt box");
}

stage("fork", {}, (scenario) => {
  scenario("a session is exported as Markdown and as JSON Lines", { goesOn: true }, async ({ page, api, workspace, screenshot }) => {
    await api.enqueue({ say: "It is a tank of **steel**." });
    const panel = await openPanel(page);
    await sendAndFinish(panel, "What is the tank made of?");
    for (const name of ["tank.md", "tank.jsonl"]) {
      await runCommand(page, "Ullage: Export session");
      const path = page.getByRole("textbox", { name: /Folder path/ });
      await expectEventually(async () => (await path.inputValue()).endsWith("What-is-the-tank-made-of.md"), "a name is proposed");
      await path.fill(join(workspace, name));
      await page.keyboard.press("Enter");
      await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
      const text = await readFile(join(workspace, name), "utf8");
      assert.ok(text.includes("It is a tank of **steel**."), text);
      if (name.endsWith(".jsonl"))
        text
          .trim()
          .split("\n")
          .forEach((line) => JSON.parse(line));
      await screenshot(name);
    }
  });

  scenario(
    "two turns, a fork from the first goes on by itself, and the original still has both",
    { goesOn: true },
    async ({ page, api, screenshot }) => {
      await api.enqueue([READ], { say: "It is a tank of **steel**." }, { say: "It holds 40,000 litres." });
      const panel = await openPanel(page);
      await sendAndFinish(panel, "What is the tank made of?");
      await sendAndFinish(panel, "How much does it hold?");
      const used = await gaugeIsPriced(page);

      await itemsOf(panel, "assistant").first().hover();
      await screenshot("1-at-a-message");
      await clickAtItem(itemsOf(panel, "assistant").first(), /^Fork from here/);
      await title(panel).getByText("What is the tank made of? (fork)").waitFor();
      await origin(panel).getByText("What is the tank made of?").waitFor();
      await itemsOf(panel, "notice").getByText("Forked here from").waitFor();
      assert.equal(await itemsOf(panel, "user").count(), 1);
      assert.ok((await gaugeIsPriced(page)) <= used);
      await canWrite(panel);
      await screenshot("2-forked");

      await api.enqueue({ say: "It rusts in ten years." });
      await sendAndFinish(panel, "When will it rust?");
      await itemsOf(panel, "assistant").getByText("It rusts in ten years.").waitFor();
      const [, , of_original, of_fork] = await repliesAsked(api);
      assert.deepEqual(messagesOf(of_fork).slice(0, -1), messagesOf(of_original).slice(0, -1));
      await screenshot("3-went-on");

      await origin(panel).click();
      await itemsOf(panel, "assistant").getByText("It holds 40,000 litres.").waitFor();
      assert.equal(await itemsOf(panel, "user").count(), 2);
      assert.equal(await origin(panel).isVisible(), false);
      await screenshot("4-the-original");

      await clickAtItem(itemsOf(panel, "user").nth(1), /^Edit and send again/);
      await title(panel).getByText("What is the tank made of? (fork 2)").waitFor();
      await expectEventually(async () => (await promptBox(panel).inputValue()) === "How much does it hold?", "the prompt is in the box");
      await resizePanel(page, 320);
      await screenshot("5-to-be-written-in-another-way");
      await api.enqueue({ say: "It weighs 9 tonnes." });
      await sendAndFinish(panel, "How much does it weigh?");
      const last = (await repliesAsked(api)).at(-1);
      assert.deepEqual(messagesOf(last).slice(0, -1), messagesOf(of_original).slice(0, -1));
      assertHolds(JSON.stringify(messagesOf(last).at(-1)), "How much does it weigh?");

      await title(panel).click();
      const row = sessionRow(panel, "What is the tank made of? (fork 2)");
      await row.hover();
      await screenshot("6-the-list");
      await row.getByRole("button", { name: "Fork", exact: true }).click();
      await title(panel).getByText("What is the tank made of? (fork 3)").waitFor();
      await itemsOf(panel, "assistant").getByText("It weighs 9 tonnes.").waitFor();
      await canWrite(panel);
      await runCommand(page, "Ullage: Fork session");
      await title(panel).getByText("What is the tank made of? (fork 4)").waitFor();
      await canWrite(panel);
      await screenshot("7-forked-by-command");

      // What goes on in others is seen from here, in one list.
      const before = await othersWanting(panel);
      await api.enqueue([{ call: "bash", input: { command: "touch dry.txt" } }], { say: "It is dry." });
      await sendPrompt(panel, "Make it dry");
      await approval(panel).waitFor();
      await runCommand(page, "Ullage: New session");
      await title(panel).getByText("New session").waitFor();
      await expectEventually(async () => (await othersWanting(panel)) === before + 1, "one more session wants the user");
      await runCommand(page, "Ullage: Show sessions");
      const waiting = sessionRow(panel, "(fork 4)");
      await waiting.getByText("waits for you").waitFor();
      await screenshot("8-one-waits");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await answerApproval(panel, "Allow once");
      await itemsOf(panel, "assistant").getByText("It is dry.").waitFor();
      await itemsOf(panel, "assistant").last().locator(".turn-cost").getByText(/^\$\d/).waitFor();
      await screenshot("9-the-cost-of-a-turn");
      await panel.getByRole("button", { name: /^Effort/ }).click();
      await page
        .locator(".quick-input-widget")
        .getByPlaceholder(/about \$\d.* once/)
        .waitFor();
      await screenshot("10-effort");
      await page.keyboard.press("Escape");
      await title(panel).click();
      await waiting.getByText("shown here").waitFor();
      await waiting.locator("button").first().focus();
      await page.keyboard.press("F2");
      await page.getByText("Rename session").waitFor();
      await page.locator(".quick-input-widget input").fill("The dry tank");
      await page.keyboard.press("Enter");
      const renamed = sessionRow(panel, "The dry tank");
      await renamed.locator("button").first().focus();
      await screenshot("11-renamed");
      await page.keyboard.press("Delete");
      await page.locator(".monaco-dialog-box").getByText("The conversation is deleted for good").waitFor();
      await screenshot("12-what-is-lost");
      await page.locator(".monaco-dialog-box").getByRole("button", { name: "Delete" }).click();
      await renamed.waitFor({ state: "detached" });
      const refused = (await api.calls()).filter(({ status }) => status >= 400);
      assert.deepEqual(refused, []);
    },
  );

  const beside = "a session works in a worktree, what it made is brought back, and the worktree is removed";
  scenario(beside, { goesOn: true }, async ({ page, api, screenshot }) => {
    const panel = await openPanel(page);
    await runCommand(page, "Ullage: New session in a worktree");
    const worktree = panel.getByRole("button", { name: /^Works in the worktree/ });
    await worktree.waitFor();
    await api.enqueue([{ call: "write_file", input: { path: "pump.txt", content: "It pumps.\n" } }], { say: "The pump is there." });
    await sendPrompt(panel, "Make a pump");
    await answerApproval(panel, "Allow once");
    await itemsOf(panel, "assistant").getByText("The pump is there.").waitFor();
    await screenshot("1-in-a-worktree");
    const inExplorer = page.getByRole("treeitem", { name: /^pump\.txt/ });
    assert.equal(await inExplorer.count(), 0);
    await promptBox(panel).pressSequentially("@pump");
    await panel.locator('[role="option"]').filter({ hasText: "pump.txt" }).first().waitFor();
    await screenshot("1b-a-file-of-the-worktree-is-offered");
    await page.keyboard.press("Enter");
    await panel.locator(".composer .chip", { hasText: "pump.txt" }).waitFor();
    await api.enqueue({ say: "It pumps." });
    await sendAndFinish(panel, "What is it?");
    assert.match(JSON.stringify((await api.calls()).at(-1)?.body.messages), /pump\.txt.*It pumps\./);

    await clickAtItem(itemsOf(panel, "user").first(), /^Edit and send again/);
    await page.locator(".quick-input-list").getByText("Edit the prompt; files go back to before it").waitFor();
    await screenshot("2-edit-and-send-again");
    await page.keyboard.press("Escape");

    await worktree.click();
    await page.locator(".quick-input-list").getByText("1 file to bring back").waitFor();
    await screenshot("3-what-can-be-done");
    await page.keyboard.press("Enter");
    await notification(page, "1 file brought back.").waitFor();
    await inExplorer.waitFor();
    await worktree.click();
    const undo = page.locator(".quick-input-list").getByText("Undo bringing back");
    await undo.waitFor();
    await screenshot("3b-it-can-be-taken-back");
    await page.keyboard.press("Escape");
    await runCommand(page, "Ullage: Go back to a checkpoint");
    await undo.waitFor();
    await screenshot("3c-it-stands-among-the-checkpoints");
    await undo.click();
    await notification(page, "1 file is as it was before.").waitFor();
    await inExplorer.waitFor({ state: "detached" });
    await worktree.click();
    await page.locator(".quick-input-list").getByText("1 file to bring back").waitFor();
    await page.keyboard.press("Enter");
    await inExplorer.waitFor();

    await worktree.click();
    await page.locator(".quick-input-list").getByText("nothing differs from the workspace folder").waitFor();
    await page.keyboard.type("Remove");
    await page.keyboard.press("Enter");
    await page.locator(".monaco-dialog-box").getByText("All that was changed there is in the workspace folder, too.").waitFor();
    await screenshot("4-before-it-is-removed");
    await page.locator(".monaco-dialog-box").getByRole("button", { name: "Remove" }).click();
    await notification(page, "The worktree is removed.").waitFor();
    await worktree.click();
    await notification(page, "The worktree is gone").waitFor();
    assert.deepEqual(
      (await api.calls()).filter(({ status }) => status >= 400),
      [],
    );
  });
});
