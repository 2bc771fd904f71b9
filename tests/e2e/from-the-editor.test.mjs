/** What one points at in the editor goes into the prompt: lines, files, folders, problems, terminals, git changes, pages. */

import assert from "node:assert/strict";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expectEventually } from "./harness/eventually.mjs";
import {
  answerApproval,
  hidePanel,
  itemsOf,
  openPanel,
  panelOf,
  promptBox,
  sendAndFinish,
  sendPrompt,
  turnIsOver,
} from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { notification, openFile, runCommand } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";
const BROKEN = '{\n  "dip": 1\n  "depth": 2\n}\n';

stage("from the editor", {}, (scenario) => {
  scenario("selected lines and a folder go into the prompt", { goesOn: true }, async ({ page, api, screenshot }) => {
    await api.enqueue({ say: "I see three lines." });
    const panel = await openPanel(page);
    await openFile(page, FILE);
    await page.keyboard.press("Control+Home");
    for (let line = 0; line < 3; line += 1) {
      await page.keyboard.press("Shift+ArrowDown");
    }
    await panel.locator("button.model-button").waitFor(); // the menu is made when it opens, and has nothing of Ullage before the server is there
    await page.locator(".monaco-editor .view-line", { hasText: "What lives here" }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Add to Ullage" }).hover();
    await page.keyboard.press("Enter"); // a menu that has just opened takes a click for the end of the one that opened it
    const chips = panel.locator(".composer .chip");
    await expectEventually(async () => (await chips.allInnerTexts()).join().includes("tank.py:1-3"), "the lines stand in the prompt box");
    await page.getByRole("treeitem", { name: /^CHANGELOG\.md/ }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Add to Ullage" }).hover();
    await page.keyboard.press("Enter");
    await expectEventually(async () => (await chips.allInnerTexts()).join().includes("CHANGELOG.md"), "a file of the explorer");
    await chips.getByRole("button").last().click();
    await promptBox(panel).pressSequentially("@docs");
    await screenshot("1-offered");
    await panel.locator('[role="option"]').filter({ hasText: "docs" }).first().click();
    await expectEventually(async () => (await chips.count()) === 2, "the folder stands beside them");
    await screenshot("2-attached");
    await panel.locator(".stage").evaluate((place) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["dip 42"], "dips.log"));
      place.dispatchEvent(new DragEvent("dragover", { dataTransfer, bubbles: true, cancelable: true }));
    });
    await panel.locator(".composer-place.dropping").waitFor();
    await screenshot("3-over-the-panel");
    await panel.locator(".stage").evaluate((place) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["dip 42"], "dips.log"));
      place.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    });
    await expectEventually(async () => (await chips.count()) === 3, "a file from outside stands beside them");
    await sendAndFinish(panel, "What do these do?");
    const asked = JSON.stringify((await api.calls()).at(-1)?.body.messages[0]);
    assert.match(asked, /tank\.py:1-3/);
    assert.match(asked, /docs\//);
    assert.match(asked, /dip 42/);
    await screenshot("4-sent");
  });

  scenario("the selection and a symbol are offered after @", { goesOn: true }, async ({ page, api, screenshot }) => {
    const panel = await openPanel(page);
    const chips = panel.locator(".composer .chip");
    const offered = panel.locator('[role="option"]');
    await openFile(page, FILE);
    await page.keyboard.press("Control+Home");
    for (let line = 0; line < 2; line += 1) {
      await page.keyboard.press("Shift+ArrowDown");
    }
    await page.keyboard.press("Control+Alt+U");
    await expectEventually(
      () => promptBox(panel).evaluate((box) => box.ownerDocument.activeElement === box),
      "the key leads to the prompt box",
    );
    await page.keyboard.type("@sel");
    await offered.filter({ hasText: "selection" }).first().waitFor();
    await screenshot("1-selection");
    await promptBox(panel).press("Enter");
    await expectEventually(async () => (await chips.allInnerTexts()).join().includes("tank.py:1-2"), "the selected lines are attached");
    await promptBox(panel).pressSequentially(" @Alar");
    await offered.filter({ hasText: "Alarm" }).first().waitFor();
    await screenshot("2-symbol");
    await offered.filter({ hasText: "Alarm" }).first().click();
    await expectEventually(
      async () => (await chips.allInnerTexts()).join().includes("tank.py:19-28"),
      "the lines of the symbol are attached",
    );
    await screenshot("3-attached");
    await api.enqueue({ say: "An alarm is one of four." });
    await sendAndFinish(panel, "What is this?");
    const asked = JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));
    assert.match(asked, /One tank: its strapping table/);
    assert.match(asked, /class Alarm\(Enum\).*too much water/);
    assert.doesNotMatch(asked, /low_stock_l the product/);
  });

  scenario(
    "a problem is explained and fixed from where the editor shows it",
    { goesOn: true },
    async ({ page, api, workspace, screenshot }) => {
      await api.enqueue({ say: "A comma is missing." });
      await writeFile(join(workspace, "broken.json"), BROKEN);
      const panel = await openPanel(page);
      await page.getByRole("treeitem", { name: /^broken\.json/ }).dblclick(); // the list of quick open comes later
      await panel.locator("button.model-button").waitFor(); // nothing of Ullage is offered before the server is there
      const squiggle = page.locator(".squiggly-error").first();
      await squiggle.waitFor();
      const offerActions = async () => {
        await page.keyboard.press("F8");
        await page.keyboard.press("Escape");
        await page.locator(".lightBulbWidget").click(); // it is there once it is known what there is to do
      };
      await offerActions();
      const fix = page.getByText("Fix with Ullage");
      const explain = page.getByText("Explain with Ullage");
      await explain.waitFor();
      await fix.waitFor();
      await screenshot("1-offered");
      await explain.click();
      await itemsOf(panel, "assistant").getByText("A comma is missing.").waitFor();
      await turnIsOver(panel);
      const asked = JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));
      assert.match(asked, /Explain the attached problem/);
      assert.match(asked, /broken\.json:3: /);
      assert.match(asked, /Expected comma/);
      await screenshot("2-explained");

      const chips = panel.locator(".composer .chip");
      await page.locator(".monaco-editor .view-line", { hasText: "depth" }).click();
      await offerActions();
      await page.getByText("Add to Ullage", { exact: true }).click();
      await expectEventually(async () => (await chips.count()) === 2, "the problem and its lines stand in the prompt box");
      await screenshot("2-added");
      await chips.getByRole("button").first().click();
      await chips.getByRole("button").first().click();
      await promptBox(panel).click();
      await promptBox(panel).pressSequentially("@prob");
      await panel.locator('[role="option"]').filter({ hasText: "problems" }).waitFor();
      await screenshot("3-problems-offered");
      await promptBox(panel).press("Enter");
      await expectEventually(async () => (await chips.allInnerTexts()).join().includes("problems"), "all problems are attached");
      await api.enqueue({ say: "There is one problem." });
      await sendAndFinish(panel, "Which problems are there?");
      assert.match(JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1)), /broken\.json.*Expected comma/);

      const mended = { path: "broken.json", old_text: '"dip": 1\n', new_text: '"dip": 1,\n' };
      await api.enqueue(
        { call: "read_file", input: { path: "broken.json" } },
        { call: "edit_file", input: mended },
        { say: "The comma is there." },
      );
      await page.locator(".monaco-editor .view-line", { hasText: "depth" }).click();
      await offerActions();
      await fix.click();
      await answerApproval(panel, "Allow once");
      await itemsOf(panel, "assistant").getByText("The comma is there.").waitFor();
      await turnIsOver(panel);
      assert.match(
        JSON.stringify((await api.calls()).at(-3)?.body.messages.at(-1)),
        /broken\.json:3: Expected comma.*Fix the attached problem\./,
      );
      assert.match(await readFile(join(workspace, "broken.json"), "utf8"), /"dip": 1,/);
      await expectEventually(async () => (await squiggle.count()) === 0, "the editor reports nothing any more");
      await screenshot("4-fixed");
    },
  );

  scenario("a page, a terminal and git changes go into the prompt", { goesOn: true }, async ({ page, api, workspace, screenshot }) => {
    await api.enqueue({ say: "I see all of them." });
    const site = createServer((request, response) => {
      response.writeHead(request.url === "/gauges" ? 200 : 404, { "content-type": "text/html" });
      response.end("<title>Gauges</title><script>no()</script><h1>Dips</h1><p>A dip is a depth.</p>");
    });
    await new Promise((resolve) => site.listen(0, "127.0.0.1", () => resolve(undefined)));
    const address = site.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    try {
      await appendFile(join(workspace, FILE), "\n# changed by hand\n");
      const panel = await openPanel(page);
      await runCommand(page, "Terminal: Create New Terminal");
      const terminal = page.locator(".terminal-wrapper.active .xterm-helper-textarea"); // another scenario may have left its own
      await terminal.waitFor({ state: "attached" });
      const mark = (/** @type {string} */ name) => page.locator(`.terminal-wrapper.active .codicon-terminal-decoration-${name}`);
      await mark("incomplete").waitFor(); // the shell integration is there, and the shell waits for a command
      await page.keyboard.type("sleep 0.3; echo dip $((40+2))\n"); // VS Code does not tell what a command writes while it begins
      await mark("success").waitFor();
      await runCommand(page, "Terminal: Select All");
      await page.locator(".terminal-wrapper.active .xterm-screen").click({ button: "right" });
      await page.getByRole("menuitem", { name: "Add to Ullage" }).hover();
      await page.keyboard.press("Enter");

      const chips = panel.locator(".composer .chip");
      const name = async (/** @type {string} */ typed, /** @type {string} */ chip) => {
        const before = await chips.count();
        await promptBox(panel).press("End");
        await promptBox(panel).pressSequentially(` @${typed}`);
        await panel.locator('[role="option"]').first().waitFor();
        await promptBox(panel).press("Enter");
        await expectEventually(async () => (await chips.count()) === before + 1, `${chip} is attached`);
        assert.match((await chips.allInnerTexts()).at(-1) ?? "", new RegExp(chip));
      };
      await expectEventually(async () => (await chips.count()) === 1, "what is selected in the terminal is attached");
      await screenshot("0-selected");
      await name("chan", "git changes");
      await name("termin", "terminal");
      await name(`${url}/gauges`, "127");
      await screenshot("1-attached");
      await sendAndFinish(panel, "What do these say?");
      const asked = JSON.stringify((await api.calls()).at(-1)?.body.messages[0]);
      assert.match(asked, /Not staged:.*\+# changed by hand/);
      assert.match(asked, /\$ sleep 0.3; echo dip.*dip 42.*exit code 0/);
      assert.match(asked, /Title: Gauges.*# Dips.*A dip is a depth/);
      assert.doesNotMatch(asked, /no\(\)/);
      await screenshot("2-sent");

      const before = (await api.calls()).length;
      await sendPrompt(panel, `Read @${url}/gone`);
      await promptBox(panel).press("Enter"); // the first was for the menu
      await panel.getByText(/cannot be attached: 127.0.0.1 answered 404/).waitFor();
      assert.equal(await promptBox(panel).inputValue(), `Read @${url}/gone `);
      assert.equal((await api.calls()).length, before);
      await screenshot("3-not-fetched");
      await promptBox(panel).fill("");
      await panel.locator(".composer .chip button").click();
      await runCommand(page, "Ullage: New session");
      await panel.getByText("It did not work").waitFor({ state: "detached" });
    } finally {
      await runCommand(page, "Terminal: Kill All Terminals");
      site.close();
    }
  });

  scenario("a test that failed goes into the prompt, with its words", { goesOn: true }, async ({ page, api, screenshot }) => {
    const panel = await openPanel(page);
    await panel.locator("button.model-button").waitFor(); // before that the menu has nothing of Ullage
    await runCommand(page, "Run the Failing Test");
    const said = page.locator(".test-output-peek-tree").getByRole("treeitem", { name: /the dip is wrong/ });
    await said.click();
    const add = page.getByText("Add to Ullage", { exact: true });
    await add.waitFor();
    await screenshot("1-offered");
    await add.click();
    const chips = panel.locator(".composer .chip");
    await expectEventually(async () => (await chips.count()) === 2, "the failure and its file are attached");
    await screenshot("2-attached");
    await api.enqueue({ say: "The dip is read in the wrong unit." });
    await sendAndFinish(panel, "Why?");
    const asked = JSON.stringify((await api.calls()).at(-1)?.body.messages[0]);
    for (const words of ["AssertionError: the dip is wrong", "42", "17", "test_dip", "tests/test_tank.py:5"])
      assert.ok(asked.includes(words), words);
  });

  scenario("a change of the source control goes into the prompt, and its commit message is written", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    await appendFile(join(workspace, FILE), "\n# a comment by hand\n");
    const panel = await openPanel(page);
    await page.getByRole("tab", { name: /^Source Control/ }).click();
    const view = page.locator(".scm-view");
    const row = view.locator(".monaco-list-row").filter({ hasText: "tank.py" });
    await panel.locator("button.model-button").waitFor(); // before that the menu has nothing of Ullage
    await row.locator(".label-name").click({ button: "right" }); // in the middle of the row its buttons may have come, which have a menu of their own
    await page.getByRole("menuitem", { name: "Add to Ullage" }).hover();
    await page.keyboard.press("Enter");
    const chips = panel.locator(".composer .chip");
    await expectEventually(
      async () => (await chips.allInnerTexts()).join().includes("changes of tankgauge/tank.py"),
      "the diff is attached",
    );
    await screenshot("1-attached");
    await api.enqueue({ say: "It is a comment." });
    await sendAndFinish(panel, "What is this?");
    assert.match(JSON.stringify((await api.calls()).at(-1)?.body.messages[0]), /\+# a comment by hand/);

    const message = async () => (await view.locator(".scm-input").innerText()).replaceAll(/\s+/g, " "); // a narrow box breaks the line
    const write = page.getByRole("button", { name: "Write commit message" }).first();
    const header = page.locator(".pane-header").filter({ hasText: "Changes" }).first();
    const press = async () => {
      await header.hover(); // its buttons show then
      await write.click();
    };
    await api.enqueue({ say: "Say why the tank is read" });
    await press();
    await expectEventually(async () => (await message()).includes("Say why the tank is read"), "the message stands in the box");
    const { body } = (await api.calls()).at(-1) ?? {};
    assert.equal(body?.messages.length, 1);
    assert.equal(body?.tools ?? undefined, undefined);
    assert.match(JSON.stringify(body?.messages), /\+# a comment by hand/);
    await screenshot("2-written");

    await api.enqueue({ say: "Explain the tank" });
    await press();
    const told = notification(page, "was replaced");
    await told.waitFor();
    assert.match(await message(), /Explain the tank/);
    await screenshot("3-replaced");
    await told.getByRole("button", { name: "Undo" }).click();
    await expectEventually(async () => /Say why/.test(await message()), "the message of before is back");

    await api.enqueue({ reply: [{ say: "Too late for this commit" }], chunk_size: 4, interruption: { holds_after: 1 } });
    await press();
    const stop = page.getByRole("button", { name: "Stop writing the commit message" }).first();
    await api.held();
    await header.hover();
    await stop.waitFor();
    await screenshot("4-writing");
    await stop.click();
    await header.hover();
    await write.waitFor();
    assert.match(await message(), /Say why/);
    await page.getByRole("tab", { name: /^Explorer/ }).click();
  });

  scenario("who does not look at the panel is told that the agent is done", { goesOn: true }, async ({ page, api, screenshot }) => {
    await api.enqueue({ reply: [{ say: "It is done." }], chunk_size: 4, interruption: { holds_after: 1 } });
    const panel = await openPanel(page);
    await sendPrompt(panel, "Do it while I look elsewhere");
    await api.held();
    await hidePanel(page);
    await api.release();
    const told = notification(page, "Ullage is done: Do it while I look elsewhere");
    await told.waitFor();
    await screenshot("1-told");
    await told.getByRole("button", { name: "Show" }).click();
    await itemsOf(panelOf(page), "assistant").getByText("It is done.").waitFor();
    await screenshot("2-shown");
  });
});
