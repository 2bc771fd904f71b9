/** Reviewing what the agent changed: the tray, the diff, keeping and undoing in the file, and what the user typed in between. */

import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectEventually } from "./harness/eventually.mjs";
import { answerApproval, itemsOf, openPanel, promptBox, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, editorText, notification, openFile, resizePanel, runCommand, typeAtLine } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";
const READ = { call: "read_file", input: { path: FILE } };

/** @param {string} oldText @param {string} newText */
const edit = (oldText, newText) => ({ call: "edit_file", input: { path: FILE, old_text: oldText, new_text: newText } });

const MENDED = edit("from __future__ import annotations", "# mended by the agent\nfrom __future__ import annotations");
const KEPT = /** @type {const} */ ([
  "from dataclasses import dataclass\n",
  "from dataclasses import dataclass\nfrom typing import Final\n",
]);
const DOCUMENTED = edit(...KEPT);
const REPORTED = { call: "write_file", input: { path: "docs/report.md", content: "# By the agent\n" } };
const CREATED = { call: "write_file", input: { path: "docs/agent.md", content: "# By the agent\n\nOne line.\n" } };

/** It makes two files; the second is larger than what is kept of one. */
const BY_COMMAND = { call: "bash", input: { command: "echo made > docs/by-command.txt; truncate -s 6M docs/huge.bin" } };

/** @param {import("./harness/panel.mjs").Panel} panel */
const tray = (panel) => panel.getByRole("region", { name: "Changes of the agent" });

/** A link above a change in the open file. @param {import("playwright-core").Page} page @param {string} name */
const lens = (page, name) => page.locator(".editor-instance .codelens-decoration a").filter({ hasText: name });

/** A row of the list that is open. @param {import("playwright-core").Page} page @param {string | RegExp} name */
const pick = (page, name) => page.locator(".quick-input-list").getByRole("option", { name });

/**
 * @param {import("./harness/stage.mjs").Scene} scene
 * @param {{call: string, input: {path?: string, command?: string}}[]} calls
 * @param {string} [prompt]
 */
async function letItWork({ api, page }, calls, prompt = "Mend the tank") {
  await api.enqueue([READ], ...calls.map((call) => [call]), { say: "It is done." });
  const panel = await openPanel(page);
  await sendPrompt(panel, prompt);
  for (const { input } of calls) {
    // One that was answered stays until the server has heard of it, and the next may have the same name.
    const named = panel.getByRole("group", { name: new RegExp(`^Approval: .*${input.path ?? ""}`) });
    const asked = named.and(panel.locator(".approval:not(.answered)"));
    await asked.getByRole("button", { name: "Allow once" }).click();
  }
  await turnIsOver(panel);
  return panel;
}

stage("reviewing", {}, (scenario) => {
  scenario("the changes of a turn stand above the prompt, and are taken back", { goesOn: true }, async (scene) => {
    const { page, workspace, screenshot } = scene;
    const before = await onDisk(workspace);
    const panel = await letItWork(scene, [MENDED, CREATED]);
    await tray(panel).getByText("2 files changed").waitFor();
    await itemsOf(panel, "assistant").last().getByText("Changed 2 files").waitFor();
    await screenshot("1-tray");
    await tray(panel)
      .getByRole("button", { name: /2 files changed/ })
      .click();
    await tray(panel).getByText("agent.md").waitFor();
    await screenshot("2-unfolded");
    await tray(panel).getByRole("button", { name: "Undo all" }).click();
    await page.getByRole("button", { name: "Undo All" }).click();
    await tray(panel).waitFor({ state: "hidden" });
    assert.equal(await onDisk(workspace), before);
    await assert.rejects(readFile(join(workspace, "docs/agent.md")));
    await screenshot("3-undone");

    await letItWork(scene, [MENDED, CREATED], "Once more");
    await tray(panel).getByText("2 files changed").waitFor();
    const made = tray(panel).getByRole("button", { name: "Keep docs/agent.md" });
    if (!(await made.isVisible()))
      await tray(panel)
        .getByRole("button", { name: /2 files changed/ })
        .click();
    await made.click();
    await tray(panel).getByText("1 file changed").waitFor();
    await screenshot("4-one-file-kept");
    await tray(panel).getByRole("button", { name: "Undo tankgauge/tank.py" }).click();
    await tray(panel).waitFor({ state: "hidden" });
    assert.equal(await onDisk(workspace), before);
    assert.match(await readFile(join(workspace, "docs/agent.md"), "utf8"), /By the agent/);
  });

  scenario("in the file one change is undone and one kept, and what the user typed stays", { goesOn: true }, async (scene) => {
    const { page, workspace, screenshot } = scene;
    const before = await onDisk(workspace);
    await openFile(page, FILE);
    const panel = await letItWork(scene, [MENDED, DOCUMENTED]);
    await tray(panel).getByText("1 file changed").waitFor();
    await openFile(page, FILE);
    await lens(page, "Keep").nth(1).waitFor();
    assert.equal(await lens(page, "Undo").count(), 2);
    await screenshot("1-marked");

    await typeAtLine(page, 1, "# by hand\n");
    await editorShows(page, "# by hand\n");
    await page.keyboard.press("Control+Alt+J");
    await page.getByText(/^Change 1 of 2/).waitFor();
    await screenshot("2-typed-and-next");
    await lens(page, "Undo").first().click();
    await expectEventually(async () => !(await editorText(page)).includes("# mended by the agent"), "the first change is undone");
    await lens(page, "Undo").nth(1).waitFor({ state: "detached" });
    assert.match(await editorText(page), /# by hand/);
    await screenshot("3-one-undone");

    await page.keyboard.press("Control+Alt+J");
    await page.keyboard.press("Control+Alt+Y");
    await tray(panel).waitFor({ state: "hidden" });
    await lens(page, "Keep").first().waitFor({ state: "detached" });
    await page.keyboard.press("Control+S");
    await expectEventually(
      async () => (await onDisk(workspace)) === `# by hand\n${before.replace(...KEPT)}`,
      "what was kept and typed is on disk",
    );
    await screenshot("4-other-kept");
  });

  scenario("all changes open beside what was before, alone and together", { goesOn: true }, async (scene) => {
    const { page, screenshot } = scene;
    const panel = await letItWork(scene, [MENDED, CREATED]);
    await tray(panel)
      .getByRole("button", { name: /2 files changed/ })
      .click();
    await tray(panel)
      .getByRole("button", { name: /^tank.py tankgauge/ })
      .click();
    await page.locator(".tab.active", { hasText: "before ↔ now" }).waitFor();
    await page.locator(".monaco-diff-editor .line-insert").first().waitFor();
    await screenshot("1-diff");
    await tray(panel).getByRole("button", { name: "Review" }).click();
    await page.locator(".tab.active", { hasText: "Changes of the agent" }).waitFor();
    await page.locator(".multiDiffEntry .line-insert").first().waitFor();
    await screenshot("2-together");
    await itemsOf(panel, "assistant").last().getByRole("button", { name: "Changed 2 files" }).click();
    await page.locator(".tab.active", { hasText: "Changes since" }).waitFor();
    await screenshot("3-of-the-turn");
    await tray(panel).getByRole("button", { name: "Keep all" }).click();
    await tray(panel).waitFor({ state: "hidden" });
  });

  scenario("one turn is kept and another undone", { goesOn: true }, async (scene) => {
    const { page, workspace, screenshot } = scene;
    const before = await onDisk(workspace);
    const panel = await letItWork(scene, [DOCUMENTED], "Say what is final");
    await letItWork(scene, [MENDED, CREATED], "Mend the tank");
    await tray(panel).getByText("2 files changed").waitFor();
    await tray(panel)
      .getByRole("button", { name: /2 files changed/ })
      .click();
    await tray(panel)
      .getByRole("button", { name: /^Turn “Say what is final”/ })
      .waitFor();
    await screenshot("1-two-turns");
    const line = (/** @type {RegExp} */ files) => panel.locator(".turn-changes").filter({ hasText: files });
    await line(/Changed 2 files/)
      .getByRole("button", { name: "Undo" })
      .click();
    await page.getByRole("button", { name: "Undo Turn" }).click();
    await expectEventually(async () => (await onDisk(workspace)) === before.replace(...KEPT), "only the second turn is undone");
    await assert.rejects(readFile(join(workspace, "docs/agent.md")));
    await tray(panel).getByText("1 file changed").waitFor();
    assert.equal(
      await line(/Changed 2 files/)
        .getByRole("button")
        .count(),
      1,
      "of an undone turn nothing is left to decide",
    );
    await screenshot("2-second-undone");
    await line(/Changed 1 file/)
      .getByRole("button", { name: "Keep" })
      .click();
    await tray(panel).waitFor({ state: "hidden" });
    assert.equal(await onDisk(workspace), before.replace(...KEPT));
    await screenshot("3-first-kept");
  });

  scenario("a file that is new opens by itself", { goesOn: true }, async (scene) => {
    const { page, screenshot } = scene;
    const panel = await letItWork(scene, [CREATED]);
    await tray(panel)
      .getByRole("button", { name: /1 file changed/ })
      .click();
    await tray(panel)
      .getByRole("button", { name: /^agent.md docs/ })
      .click();
    await page.locator(".tab.active", { hasText: "agent.md" }).waitFor();
    assert.equal(await page.locator(".monaco-diff-editor .line-delete").count(), 0);
    await lens(page, "Keep").first().waitFor();
    await screenshot("1-new");
    await runCommand(page, "Ullage: Undo the agent's changes of a turn");
    await tray(panel).waitFor({ state: "hidden" });
  });

  scenario("what the user changed in a change of the agent is theirs", { goesOn: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    await openFile(page, FILE); // what is open already can be commented, too
    const panel = await letItWork(scene, [MENDED]);
    await openFile(page, FILE);
    await lens(page, "Undo").first().waitFor();
    await page.locator(".editor-instance .comment-diff-added").first().waitFor(); // the command is there where the cursor comes to such a line
    const line = (await editorText(page)).split("\n").findIndex((each) => each.includes("# mended by the agent")) + 1;
    await typeAtLine(page, line, "# and by me ");
    await lens(page, "edited by you").waitFor();
    assert.equal(await lens(page, "Undo").count(), 0);
    await screenshot("1-edited");
    await tray(panel)
      .getByRole("button", { name: /1 file changed/ })
      .click();
    await tray(panel).getByRole("button", { name: "Undo tankgauge/tank.py" }).click();
    await panel.getByText("You changed these lines since").waitFor();
    assert.match(await editorText(page), /# and by me/);
    await screenshot("2-refused");
    await api.enqueue({ say: "I see what you wrote." });
    await sendAndFinish(panel, "What do you see?");
    const told = JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));
    assert.match(told, /tankgauge\/tank\.py has unsaved changes in the editor/);
    await runCommand(page, "File: Revert File");
  });

  scenario("a comment on a change is the next prompt", { goesOn: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    await openFile(page, FILE); // what is open already can be commented, too
    const panel = await letItWork(scene, [MENDED]);
    await openFile(page, FILE);
    await lens(page, "Undo").first().waitFor();
    await page.locator(".editor-instance .comment-diff-added").first().waitFor(); // the command is there where the cursor comes to such a line
    const line = (await editorText(page)).split("\n").findIndex((each) => each.includes("# mended by the agent")) + 1;
    await typeAtLine(page, line, "");
    await api.enqueue({ say: "I say it in other words." });
    await runCommand(page, "Comments: Add Comment on Current Selection");
    await page.locator(".review-widget .monaco-editor").first().waitFor();
    await page.keyboard.type("Say who mended it");
    await screenshot("1-written");
    await page.locator(".review-widget").getByRole("button", { name: "Send to the agent" }).click();
    await itemsOf(panel, "assistant").getByText("I say it in other words.").waitFor();
    const last = JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));
    assert.match(last, /tankgauge\/tank\.py, line \d+/);
    assert.match(last, /Say who mended it/);
    await screenshot("2-sent");
  });

  scenario("going back lists the files before anything happens, and leads forward again", { goesOn: true }, async (scene) => {
    const { page, workspace, screenshot } = scene;
    const before = await onDisk(workspace);
    const panel = await letItWork(scene, [MENDED, REPORTED, BY_COMMAND]);
    const after = await onDisk(workspace);
    await writeFile(join(workspace, "docs/report.md"), "# By me\n");
    await itemsOf(panel, "user").last().hover();
    await screenshot("1-beside-the-prompt");
    await itemsOf(panel, "user")
      .last()
      .getByRole("button", { name: /^Go back to before this/ })
      .click();
    await pick(page, "tankgauge/tank.py").waitFor();
    await pick(page, "docs/report.md").waitFor();
    await pick(page, "docs/by-command.txt").waitFor();
    await pick(page, "docs/huge.bin").waitFor();
    await page.locator(".quick-input-list").getByText("Not covered, so it stays as it is").waitFor();
    assert.equal(await onDisk(workspace), after, "nothing happens before it is chosen");
    await screenshot("2-listed");
    await pick(page, /^\S* ?Files, the conversation/).click();
    await page.locator(".quick-input-widget", { hasText: "changed since" }).waitFor();
    await screenshot("3-conflicts");
    await page.keyboard.press("Enter");
    await expectEventually(async () => (await onDisk(workspace)) === before, "the file is as before the turn");
    assert.equal(await readFile(join(workspace, "docs/report.md"), "utf8"), "# By me\n", "what the user changed stays");
    await assert.rejects(readFile(join(workspace, "docs/by-command.txt")), "what a command made is gone, too");
    await notification(page, "2 files as before").getByRole("button", { name: "Go Forward Again" }).click();
    await pick(page, "tankgauge/tank.py").waitFor();
    await screenshot("4-forward");
    await pick(page, /^\S* ?Files/)
      .first()
      .click();
    await expectEventually(async () => (await onDisk(workspace)) === after, "and forward again");
    assert.equal(await readFile(join(workspace, "docs/by-command.txt"), "utf8"), "made\n");
    await screenshot("5-forward-again");
  });

  scenario("going back in files and conversation leads to a fork with the prompt in its box", { goesOn: true }, async (scene) => {
    const { page, workspace, screenshot } = scene;
    const before = await onDisk(workspace);
    const panel = await letItWork(scene, [MENDED], "Mend the tank, please");
    const goBack = itemsOf(panel, "user").last();
    await goBack.hover();
    await goBack.getByRole("button", { name: /^Go back to before this/ }).click();
    await pick(page, /Files and conversation/).click();
    await expectEventually(
      async () => (await promptBox(panel).inputValue()) === "Mend the tank, please",
      "the prompt is in the fork's box",
    );
    assert.equal(await onDisk(workspace), before, "the files are as before the turn");
    assert.equal(await itemsOf(panel, "user").count(), 0, "the fork ends before that prompt");
    await screenshot("1-both");
  });

  scenario("going back in the conversation alone changes no file", { goesOn: true }, async (scene) => {
    const { page, workspace, screenshot } = scene;
    const before = await onDisk(workspace);
    const panel = await letItWork(scene, [MENDED], "Mend it once more");
    const after = await onDisk(workspace);
    assert.notEqual(after, before);
    const goBack = itemsOf(panel, "user").last();
    await goBack.hover();
    await goBack.getByRole("button", { name: /^Go back to before this/ }).click();
    await pick(page, /^\S* ?Conversation/).click();
    await expectEventually(async () => (await promptBox(panel).inputValue()) === "Mend it once more", "the prompt is in the fork's box");
    assert.equal(await onDisk(workspace), after);
    await screenshot("1-conversation");
  });

  scenario("/rewind lists the checkpoints and leads to a fork", { goesOn: true }, async (scene) => {
    const { workspace, page, screenshot } = scene;
    const before = await onDisk(workspace);
    const panel = await letItWork(scene, [MENDED], "Mend it for good");
    await promptBox(panel).fill("/rewind");
    await page.keyboard.press("Enter");
    await pick(page, /Back to before “Mend it for good”/).waitFor();
    await screenshot("1-listed");
    await page.keyboard.press("Enter");
    await pick(page, /Files and conversation/).click();
    await expectEventually(async () => (await onDisk(workspace)) === before, "the file is as before the turn");
    await expectEventually(async () => (await itemsOf(panel, "user").count()) === 0, "the fork is shown");
    await screenshot("2-in-the-fork");
  });

  scenario("undoing thousands of files shows how far it is, and can be stopped", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    const made = join(workspace, "made");
    const command = "mkdir made && for i in $(seq 3000); do echo $i > made/$i.txt; done";
    await api.enqueue([{ call: "bash", input: { command } }], { say: "They are made." });
    const panel = await openPanel(page);
    await sendPrompt(panel, "Make many files");
    await answerApproval(panel, "Allow once");
    await turnIsOver(panel);
    await tray(panel).getByText("3000 files changed").waitFor();
    await tray(panel).getByRole("button", { name: "Undo all" }).click();
    await page.getByRole("button", { name: "Undo All" }).click();
    const progress = notification(page, "Undoing the agent's changes");
    await progress.getByRole("button", { name: "Cancel" }).click();
    await notification(page, "You stopped before it was done").waitFor();
    await screenshot("1-stopped");
    const left = (await readdir(made)).length;
    assert.ok(left > 0 && left < 3000, `${left} files are left`);
    await tray(panel).getByText(`${left} files changed`).waitFor();
  });

  scenario("in a narrow panel and in the dark", { goesOn: true }, async (scene) => {
    const { page, settings, screenshot } = scene;
    await settings({ "workbench.colorTheme": "Default Dark Modern" });
    const panel = await letItWork(scene, [MENDED, CREATED]);
    await tray(panel)
      .getByRole("button", { name: /2 files changed/ })
      .click();
    await openFile(page, FILE);
    await lens(page, "Undo").first().waitFor();
    await panel.locator("body.vscode-dark").waitFor();
    await screenshot("1-dark");
    await resizePanel(page, 240);
    await screenshot("2-dark-narrow");
    await resizePanel(page, 440);
    await settings({});
    await panel.locator("body.vscode-light").waitFor();
  });
});

/** @param {string} workspace */
function onDisk(workspace) {
  return readFile(join(workspace, FILE), "utf8");
}
