/** A turn: an answer streams, tools ask before they change anything, and what was done stays when it is stopped. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expectEventually } from "./harness/eventually.mjs";
import { gauge } from "./harness/gauge.mjs";
import { answerApproval, approval, itemsOf, openPanel, promptBox, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, editorText, isUnsaved, notification, openFile, runCommand } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";
const READ = { call: "read_file", input: { path: FILE } };
const EDIT = {
  call: "edit_file",
  input: {
    path: FILE,
    old_text: "from __future__ import annotations",
    new_text: "# mended by the agent\nfrom __future__ import annotations",
  },
};

/** @param {string} file */
const count = (file) => ({ call: "bash", input: { command: `wc -l ${file} | sort -o counted.txt` } });

/** An answer that stops in the middle until it is released. @param {string} text */
const heldInTheMiddle = (text) => ({ reply: [{ say: text }], chunk_size: 8, interruption: { holds_after: 6 } });

stage("a turn", {}, (scenario) => {
  scenario("an answer streams, an edit asks, and changes the file on disk and in the open editor", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    await api.enqueue(heldInTheMiddle("I read the file first, and then I mend it at its **top**."), [READ]);
    await api.enqueue([{ think: "One line is enough." }, { say: "I add a line." }, EDIT], { say: "The file is mended." });
    await openFile(page, FILE);
    const panel = await openPanel(page);

    await sendPrompt(panel, "Mend the tank");
    await api.held();
    const answer = itemsOf(panel, "assistant").first();
    await answer.getByText("I read the file first").waitFor();
    assert.doesNotMatch(await answer.innerText(), /top/);
    await screenshot("1-streaming");
    await api.release();
    await answer.getByText("at its top").waitFor();
    await turnIsOver(panel);

    await sendPrompt(panel, "Go on");
    await approval(panel).waitFor();
    await screenshot("2-asked");
    assert.doesNotMatch(await onDisk(workspace), /mended/);
    await answerApproval(panel, "Allow once");
    await itemsOf(panel, "assistant").getByText("The file is mended.").waitFor();
    assert.match(await onDisk(workspace), /^# mended by the agent$/m);
    await editorShows(page, "# mended by the agent");
    await expectEventually(async () => !(await isUnsaved(page)), "the editor has saved the edit");
    await screenshot("3-edited");
  });

  scenario("a refused edit changes nothing, and the model is told why", { goesOn: true }, async ({ page, api, workspace, screenshot }) => {
    await api.enqueue([READ], [EDIT], { say: "Then I leave it." });
    const panel = await openPanel(page);
    await sendPrompt(panel, "Mend the tank");
    await approval(panel).getByLabel("Reason for refusing").fill("the tank is measured already");
    await screenshot("1-reason");
    await answerApproval(panel, "Refuse");
    await itemsOf(panel, "assistant").getByText("Then I leave it.").waitFor();
    assert.doesNotMatch(await onDisk(workspace), /mended/);
    const last = (await api.calls()).at(-1)?.body.messages.at(-1);
    assert.match(JSON.stringify(last), /the tank is measured already/);
    await screenshot("2-refused");
  });

  scenario("what is always allowed is not asked again", { goesOn: true }, async ({ page, api, screenshot }) => {
    await api.enqueue([count("README.md")], { say: "Counted one." }, [count("AGENTS.md")], { say: "Counted another." });
    const panel = await openPanel(page);
    await sendPrompt(panel, "Count the README");
    await approval(panel).waitFor();
    await screenshot("1-asked");
    await answerApproval(panel, /^Always allow/);
    await panel.getByLabel("Always allow").fill("sort *");
    await panel.getByRole("button", { name: "Save and allow" }).click();
    await itemsOf(panel, "assistant").getByText("Counted one.").waitFor();
    await sendAndFinish(panel, "Count the rules");
    await itemsOf(panel, "assistant").getByText("Counted another.").waitFor();
    assert.equal(await itemsOf(panel, "toolCall").count(), 2);
    await screenshot("2-not-asked");
  });

  scenario("a question that waits is answered from the editor by a key, once it was seen", { goesOn: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    await api.enqueue([{ call: "bash", input: { command: "touch made.txt" } }], { say: "It is made." });
    const panel = await openPanel(page);
    await sendPrompt(panel, "Make it");
    await approval(panel).waitFor();
    await runCommand(page, "View: Toggle Secondary Side Bar Visibility");
    await notification(page, "Ullage waits for your approval").getByRole("button", { name: "Allow Once" }).waitFor();
    await gauge(page).getByText("approve").waitFor();
    await screenshot("0-told");
    await openFile(page, FILE);
    await page.keyboard.press("Control+Alt+Shift+Enter"); // shows it, since nobody has seen it here
    await approval(panel).waitFor();
    await screenshot("1-shown");
    assert.equal((await api.calls()).length, 1, "nothing is allowed that was not in sight");
    await page.locator(".editor-instance .monaco-editor .view-lines").first().click();
    await page.keyboard.press("Control+Alt+Shift+Enter");
    await itemsOf(panel, "assistant").getByText("It is made.").waitFor();
    await screenshot("2-allowed");
    assert.equal(await isUnsaved(page), false, "the key wrote nothing into the editor");
  });

  scenario("stop keeps what was done, and the next prompt works", { goesOn: true }, async ({ page, api, workspace, screenshot }) => {
    await api.enqueue([READ], [EDIT], heldInTheMiddle("The line is added, and now I go on and on without an end."));
    await openFile(page, FILE);
    const panel = await openPanel(page);
    await sendPrompt(panel, "Mend the tank");
    await approval(panel).waitFor();
    await page.keyboard.press("Control+Shift+Enter"); // allows what is in sight
    await api.held();
    await itemsOf(panel, "assistant").getByText("The line is added").waitFor();
    await panel.getByRole("button", { name: "Stop" }).waitFor();
    await promptBox(panel).press("Escape"); // does what the button does
    await itemsOf(panel, "notice").getByText("Stopped").waitFor();
    await screenshot("1-stopped");
    assert.match(await onDisk(workspace), /mended by the agent/);
    assert.match(await editorText(page), /mended by the agent/);
    await itemsOf(panel, "assistant").getByText("The line is added").waitFor();
    await api.release();
    await api.enqueue({ say: "I am here." });
    await sendAndFinish(panel, "Are you there?");
    await itemsOf(panel, "assistant").getByText("I am here.").waitFor();
    await screenshot("2-next");

    await api.enqueue(heldInTheMiddle("And again I go on and on without an end."));
    await sendPrompt(panel, "Go on");
    await api.held();
    await page.locator(".editor-instance .monaco-editor .view-lines").first().click();
    await page.keyboard.press("Control+Alt+Shift+S"); // from anywhere
    await itemsOf(panel, "notice").getByText("Stopped").nth(1).waitFor();
    await api.release();
    await turnIsOver(panel);
  });
});

/** @param {string} workspace */
function onDisk(workspace) {
  return readFile(join(workspace, FILE), "utf8");
}
