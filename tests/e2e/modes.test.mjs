/** Ask, Plan and Act: what is chosen at the prompt holds, and a plan is edited, commented, sent back and carried out. */

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { assertHolds, expectEventually } from "./harness/eventually.mjs";
import { summaries } from "./harness/fake-api.mjs";
import { answerApproval, approval, itemsOf, openPanel, promptBox, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { readings } from "./harness/readings.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, runCommand, typeAtLine } from "./harness/workbench.mjs";

const PLAN = "# Mend the tank\n\nThe dip is read twice today.\n\n1. Read the dip once\n2. Add a test\n3. Run all tests\n";
const WRITE = { call: "write_file", input: { path: "made.txt", content: "made\n" } };

/** @param {string} plan */
const propose = (plan) => ({ call: "propose_plan", input: { plan } });

stage("modes", {}, (scenario) => {
  scenario(
    "in Ask mode nothing is changed, and the panel shows the mode",
    { goesOn: true },
    async ({ page, api, workspace, screenshot }) => {
      await api.enqueue([WRITE], { say: "I would make a file." });
      const panel = await openPanel(page);
      const mode = panel.locator(".mode-button");
      await expectEventually(async () => (await mode.innerText()).includes("Act"), "a session begins in Act mode");
      await promptBox(panel).focus();
      await page.keyboard.press("Shift+Tab");
      await expectEventually(async () => (await mode.innerText()).includes("Ask"), "Shift+Tab chooses the next mode");
      await screenshot("1-ask");
      await sendAndFinish(panel, "What would you do?");
      await itemsOf(panel, "assistant").getByText("I would make a file.").waitFor();
      assert.ok(!(await readdir(workspace)).includes("made.txt"));
      await screenshot("2-refused-by-the-mode");
    },
  );

  scenario("a plan opens, is sent back, edited and carried out", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    await api.enqueue([propose(PLAN)], [propose(PLAN.replace("Add a test", "Add two tests"))], { say: "I begin with the dip." });
    const panel = await openPanel(page);
    await sendPrompt(panel, "/mode plan");
    await expectEventually(async () => (await panel.locator(".mode-button").innerText()).includes("Plan"), "the command chose it");
    await sendPrompt(panel, "Mend the tank");
    await approval(panel).waitFor();
    await editorShows(page, "Read the dip once");
    await screenshot("1-proposed");
    await approval(panel).getByLabel("What should be different").fill("Two tests, please");
    await answerApproval(panel, "Keep planning");

    await itemsOf(panel, "toolCall").last().locator(".tool-plan").getByText("Add two tests").waitFor();
    await approval(panel).waitFor();
    const sent = JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));
    assert.match(sent, /does not accept this plan yet/);
    assert.match(sent, /Two tests, please/);
    await editorShows(page, "Add two tests");
    await page.locator(".editor-instance .monaco-editor .view-line").last().click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("4. Write it down\n");
    await runCommand(page, "File: Save");
    await screenshot("2-edited");
    await answerApproval(panel, "Carry out the plan");
    await turnIsOver(panel);
    assert.match(JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1)), /4\. Write it down/);
    await expectEventually(async () => (await panel.locator(".mode-button").innerText()).includes("Act"), "it is carried out in Act mode");
    await panel.getByText("Write it down").first().waitFor();
    await screenshot("3-accepted");

    await api.addRules(summaries("The user wants the tank mended."));
    await api.enqueue(
      ...(await readings(workspace, 3)).map((each) => [each]),
      { say: "I have read them." },
      { say: "The dip is read once." },
    );
    await sendAndFinish(panel, "Look at the readings first");
    await runCommand(page, "Ullage: Compact conversation");
    await itemsOf(panel, "compaction").getByText("Compacted").waitFor();
    await panel.getByText("Write it down").first().waitFor();
    await sendAndFinish(panel, "Go on");
    const { messages } = (await api.calls()).at(-1)?.body ?? {};
    const after = JSON.stringify(messages);
    for (const line of ["# Mend the tank", "2. Add two tests", "4. Write it down"]) assertHolds(after, line);
    assert.ok(!after.includes("The session is in Plan mode now"), "what was before it is compacted");
    await screenshot("4-in-view-after-a-compaction");
  });

  scenario("lines of a plan are commented, and the comments go back with it", { goesOn: true }, async ({ page, api, screenshot }) => {
    await api.enqueue([propose(PLAN)], [propose(PLAN.replace("Run all tests", "Run the quick tests"))], { say: "So be it." });
    const panel = await openPanel(page);
    await sendPrompt(panel, "/mode plan");
    await expectEventually(async () => (await panel.locator(".mode-button").innerText()).includes("Plan"), "the command chose it");
    await sendPrompt(panel, "Mend the tank");
    await approval(panel).waitFor();
    await editorShows(page, "Read the dip once");
    for (const [line, comment] of /** @type {const} */ ([
      [7, "The quick ones are enough"],
      [5, "Keep the old one"],
    ])) {
      await typeAtLine(page, line, "");
      await runCommand(page, "Comments: Add Comment on Current Selection");
      await page.locator(".review-widget .monaco-editor.focused").waitFor();
      await page.keyboard.type(comment);
      if (line === 7) {
        await screenshot("1-written");
      }
      await page.getByRole("button", { name: "Add comment" }).first().click();
      await page.locator(".review-widget").getByText(comment).first().waitFor();
    }
    await screenshot("2-commented");
    await answerApproval(panel, "Keep planning");
    await itemsOf(panel, "toolCall").last().locator(".tool-plan").getByText("Run the quick tests").waitFor();
    const sent = JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));
    assert.match(sent, /Line 5 .*Read the dip once.*: Keep the old one.*Line 7 .*Run all tests.*: The quick ones are enough/);
    await screenshot("3-sent-back");
    await answerApproval(panel, "Carry out the plan");
    await turnIsOver(panel);
  });
});
