/** Ask, Plan and Act: what is chosen at the prompt holds, and a plan is edited, commented, sent back and carried out. */

import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { assertHolds, expectEventually } from "./harness/eventually.mjs";
import { summaries } from "./harness/fake-api.mjs";
import {
  answerApproval,
  approval,
  hidePanel,
  itemsOf,
  openPanel,
  panelOf,
  promptBox,
  sendAndFinish,
  sendPrompt,
  turnIsOver,
} from "./harness/panel.mjs";
import { readings } from "./harness/readings.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, notification, resizePanel, runCommand, typeAtLine } from "./harness/workbench.mjs";

const PLAN = "# Mend the tank\n\nThe dip is read twice today.\n\n1. Read the dip once\n2. Add a test\n3. Run all tests\n";
const WRITE = { call: "write_file", input: { path: "made.txt", content: "made\n" } };

const KEPT = {
  header: "Database",
  question: "Where are the tanks kept?",
  options: [
    { label: "SQLite", description: "One file beside the readings, which nobody has to run" },
    { label: "PostgreSQL", description: "A server, for several who write at once" },
  ],
};
const FUELS = {
  header: "Fuels",
  question: "Which fuels are measured?",
  options: [
    { label: "Diesel", description: "By dip stick" },
    { label: "Petrol", description: "By float" },
    { label: "Water", description: "So that nobody takes it for fuel" },
  ],
  multiSelect: true,
};

/** @param {object[]} questions */
const ask = (...questions) => ({ call: "ask_user", input: { questions } });

/** @param {string} plan */
const propose = (plan) => ({ call: "propose_plan", input: { plan } });

/** @param {string} workspace */
async function bringOwnCommands(workspace) {
  const files = {
    "CLAUDE.md": "Measure in millimetres.\n",
    ".cursor/rules/readings.mdc": "---\nglobs: *.csv\n---\nNever change a reading.\n",
    ".claude/commands/review.md":
      "---\ndescription: Read a page of the manual\nargument-hint: [page]\n---\nRead page $1 as a sailor would.\n",
    ".claude/commands/undo.md": "Not me.\n",
    ".agents/skills/tides/SKILL.md": "---\nname: tides\ndescription: How tide tables are read\n---\nFrom left to right.\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(workspace, dirname(name)), { recursive: true });
    await writeFile(join(workspace, name), text);
  }
}

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

  scenario(
    "commands of the project stand in the menu, and what its rules take is listed",
    { goesOn: true, prepare: bringOwnCommands },
    async ({ page, api, screenshot }) => {
      const panel = await openPanel(page);
      await promptBox(panel).fill("/re");
      await panel.getByRole("option", { name: "/review [page]" }).waitFor();
      await screenshot("1-menu");
      await promptBox(panel).fill("/rules");
      await page.keyboard.press("Enter");
      const listed = panel.locator(".sheet");
      await listed.getByText("in force once the agent touches a file that fits *.csv").waitFor();
      await listed.getByText("Ullage has a command of the same name").waitFor();
      await screenshot("2-rules");
      await page.keyboard.press("Escape");
      await api.enqueue({ say: "Page 12 reads well." });
      await sendAndFinish(panel, "/review 12");
      await screenshot("3-called");
      assertHolds(JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1)), "Read page 12 as a sailor would.");
    },
  );

  scenario("questions are answered by keys, by mouse, in a notification, and by a prompt", { goesOn: true }, async (scene) => {
    const { page, api, settings, screenshot } = scene;
    const panel = await openPanel(page);
    const form = panel.locator(".questions");
    const told = async () => JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));

    await api.enqueue([ask(KEPT, FUELS)], { say: "I keep them so." });
    await sendPrompt(panel, "Keep the tanks");
    await form.waitFor();
    await screenshot("1-asked");
    await page.keyboard.press("Control+Alt+Shift+U");
    await expectEventually(
      async () =>
        form
          .getByRole("radio")
          .first()
          .evaluate((each) => each === document.activeElement),
      "the form has the focus",
    );
    await page.keyboard.press("2");
    await page.keyboard.press("Enter");
    await page.keyboard.press("1");
    await page.keyboard.press("2");
    await screenshot("2-chosen");
    await resizePanel(page, 300);
    await screenshot("3-narrow");
    await settings({ "workbench.colorTheme": "Default High Contrast" });
    await panel.locator("body.vscode-high-contrast").waitFor();
    await panel.locator("html").evaluate((whole) => whole.setAttribute("dir", "rtl"));
    await screenshot("4-right-to-left");
    await panel.locator("html").evaluate((whole) => whole.removeAttribute("dir"));
    await settings({});
    await panel.locator("body.vscode-high-contrast").waitFor({ state: "detached" });
    await resizePanel(page, 440);
    await form.getByPlaceholder("In your own words").last().fill("And whatever comes later");
    await page.keyboard.press("Enter");
    await itemsOf(panel, "assistant").getByText("I keep them so.").waitFor();
    assertHolds(await told(), "They chose: “PostgreSQL”");
    assertHolds(await told(), "They chose: “Diesel”, “Petrol”");
    assertHolds(await told(), "They wrote: And whatever comes later");
    await screenshot("5-answered");

    await api.enqueue([ask(KEPT)], { say: "One file then." });
    await sendPrompt(panel, "Think again");
    await form.waitFor();
    await form.getByText("SQLite").click();
    await form.getByRole("button", { name: "Answer" }).click();
    await itemsOf(panel, "assistant").getByText("One file then.").waitFor();

    await api.enqueue([ask(KEPT)], { say: "In memory then." });
    await sendPrompt(panel, "Are you sure?");
    await form.waitFor();
    await sendPrompt(panel, "Neither, keep them in memory");
    await itemsOf(panel, "assistant").getByText("In memory then.").waitFor();
    assertHolds(await told(), "they wrote a message instead");
    assertHolds(await told(), "Neither, keep them in memory");
    await screenshot("6-said-instead");

    await api.enqueue({ reply: [ask(KEPT)], chunk_size: 4, interruption: { holds_after: 1 } }, { say: "A server then." });
    await sendPrompt(panel, "Ask me while I look elsewhere");
    await api.held();
    await hidePanel(page);
    await api.release();
    const asked = notification(page, "The agent asks you, and an answer allows nothing: Where are the tanks kept?");
    await asked.waitFor();
    await screenshot("7-notification");
    await asked.getByRole("button", { name: "2. PostgreSQL" }).click();
    await expectEventually(async () => (await told()).includes("They chose: “PostgreSQL”"), "the notification answers");
    await runCommand(page, "View: Toggle Secondary Side Bar Visibility");
    await itemsOf(panelOf(page), "assistant").getByText("A server then.").waitFor();
  });

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
