/** What the agent may do: asked part by part, allowed by rules that the user writes, listed and revoked; and an edit that is changed before it is accepted. */

import assert from "node:assert/strict";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expectEventually } from "./harness/eventually.mjs";
import { answerApproval, approval, itemsOf, openPanel, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, runCommand } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";

/** @param {string} command */
const run = (command) => ({ call: "bash", input: { command } });

/** @param {string} workspace @param {string} name */
const isThere = (workspace, name) =>
  access(join(workspace, name)).then(
    () => true,
    () => false,
  );

stage("permissions", {}, (scenario) => {
  scenario(
    "a command is asked about part by part, and a rule is written with what it would have covered",
    { goesOn: true },
    async (scene) => {
      const { page, api, workspace, screenshot } = scene;
      await api.enqueue([run("ls && mkdir made && python3 -c 'print(1)' > made/x")], { say: "Then not." });
      await api.enqueue([run("ls && mkdir made-one && tail -n 1 README.md")], { say: "It is made." });
      await api.enqueue([run("cd tankgauge && mkdir made-two")], { say: "So is the other." });
      const panel = await openPanel(page);
      await sendPrompt(panel, "Make it in one go");
      await approval(panel).getByText("special meaning").waitFor();
      await screenshot("1-not-followed");
      await answerApproval(panel, "Refuse");
      await turnIsOver(panel);

      await sendPrompt(panel, "Make one");
      const card = approval(panel);
      await card.getByText("It only reads").first().waitFor();
      assert.equal(await card.locator(".asked-folder").textContent(), `In ${basename(workspace)}`);
      await card.getByText("not on the list of harmless commands").waitFor();
      await screenshot("2-asked");
      await answerApproval(panel, "Always allow…");
      const pattern = card.getByLabel("Always allow", { exact: true });
      await expectEventually(async () => (await pattern.inputValue()) === "mkdir made-one", "the command is offered as it stands");
      await pattern.fill("mkdir $HOME/*");
      await card.getByText("special meaning for the shell").waitFor();
      await screenshot("3-broken");
      await pattern.press("Enter");
      assert.equal(await isThere(workspace, "made-one"), false, "a broken pattern is not saved, and nothing runs");
      await pattern.fill("mkdir *");
      await card.getByText("with any words that stay in the workspace folder").waitFor();
      await card.locator(".rule-match").getByText("mkdir made-one").waitFor();
      await screenshot("4-rule");
      await pattern.press("Enter");
      await itemsOf(panel, "assistant").getByText("It is made.").waitFor();

      await sendAndFinish(panel, "Make another");
      assert.equal(
        await isThere(workspace, "tankgauge/made-two"),
        true,
        "the rule allows it without a question, in a folder of the project",
      );
      await screenshot("5-not-asked");
    },
  );

  scenario("the page of permissions lists, explains and revokes", { goesOn: true }, async ({ page, api, workspace, screenshot }) => {
    const panel = await openPanel(page);
    await runCommand(page, "Ullage: Permissions");
    const sheet = panel.locator(".sheet");
    const rule = sheet.locator(".rule");
    await rule.locator(".rule-name").getByText("mkdir *", { exact: true }).waitFor();
    await rule.getByText("Used 1 time.").waitFor();
    await screenshot("1-page");
    await rule.getByRole("button", { name: "Change this rule" }).click();
    await sheet.getByLabel("Always allow", { exact: true }).fill("mkdir made-*");
    await sheet.getByLabel("Where the rule holds").selectOption("session");
    await sheet.locator(".rule-match").first().waitFor();
    await screenshot("2-changed");
    await sheet.getByRole("button", { name: "Save" }).click();
    await rule.locator(".rule-name").getByText("mkdir made-*", { exact: true }).waitFor();
    assert.equal(await rule.count(), 1);
    await sheet.getByRole("radio", { name: "Ask about everything" }).check();
    await serverGoesBy(page, sheet, "Ask about everything");
    await screenshot("3-everything");
    await api.enqueue([run("ls")], { say: "Listed." });
    await page.keyboard.press("Escape");
    await sendPrompt(panel, "List");
    await approval(panel).getByText("you want to be asked about everything").waitFor();
    await approval(panel).getByRole("button", { name: "Permissions…" }).click();
    await sheet.getByRole("radio", { name: "Ask about what is not harmless" }).check();
    await rule.getByRole("button", { name: "Revoke this rule" }).focus();
    await page.keyboard.press("Enter");
    await sheet.getByText("There are no rules").waitFor();
    await screenshot("4-revoked");
    await page.keyboard.press("Escape");
    await answerApproval(panel, "Allow once");
    await itemsOf(panel, "assistant").getByText("Listed.").waitFor();

    await runCommand(page, "Ullage: Permissions");
    const wayOut = sheet.getByRole("radio", { name: "Ask about what leaves the workspace or the sandbox" });
    await sheet.getByRole("button", { name: "Add a rule…" }).click();
    await sheet.getByLabel("Always allow", { exact: true }).fill("sort *");
    await sheet.getByLabel("Where the rule holds").selectOption("everywhere");
    await page.keyboard.press("Enter");
    await sheet.getByRole("heading", { name: "Everywhere" }).waitFor();
    await rule.locator(".rule-name").getByText("sort *", { exact: true }).waitFor();
    await screenshot("5-everywhere");
    await rule.getByRole("button", { name: "Revoke this rule" }).click();
    if (await wayOut.isEnabled()) {
      await wayOut.check();
      await serverGoesBy(page, sheet, "Ask about what leaves the workspace or the sandbox");
      await page.keyboard.press("Escape");
      await api.enqueue([run("touch within.txt")], { say: "It is within." });
      await sendAndFinish(panel, "Touch it");
      assert.ok(await isThere(workspace, "within.txt"), "the sandbox keeps it inside, so nobody is asked");
      await screenshot("6-not-asked");
      await runCommand(page, "Ullage: Permissions");
      await sheet.getByRole("radio", { name: "Ask about what is not harmless" }).check();
      await serverGoesBy(page, sheet, "Ask about what is not harmless");
    } else await sheet.getByText("It needs a sandbox that works").waitFor();
    await page.keyboard.press("Escape");
  });

  scenario("a rule that refuses is written on the page, and what it refuses does not run", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    const panel = await openPanel(page);
    await runCommand(page, "Ullage: Permissions");
    const sheet = panel.locator(".sheet");
    await sheet.getByRole("button", { name: "Add a rule…" }).click();
    await sheet.getByLabel("What the rule does").selectOption("refuse");
    const pattern = sheet.getByLabel("Never allow", { exact: true });
    await pattern.fill("mkdir *");
    await sheet.locator(".rule-match.refused").first().waitFor();
    await screenshot("1-written");
    await pattern.press("Enter");
    await sheet.locator(".rule-name").getByText("Never mkdir *").waitFor();
    await screenshot("2-listed");
    await page.keyboard.press("Escape");
    await api.enqueue([run("mkdir made-three")], { say: "I may not." });
    await sendAndFinish(panel, "Make a third");
    assert.equal(await isThere(workspace, "made-three"), false);
    assert.match(JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1)), /never `mkdir \*` \(commands\)/);
    await screenshot("3-refused");
    await api.enqueue([run("tee made-four")], { say: "Then not." });
    await sendPrompt(panel, "Write it");
    await approval(panel).getByRole("button", { name: "Never allow…" }).click();
    await screenshot("4-never-from-the-question");
    await approval(panel).getByRole("button", { name: "Save and refuse" }).click();
    await turnIsOver(panel);
    await runCommand(page, "Ullage: Permissions");
    await sheet.locator(".rule").nth(1).waitFor();
    await sheet.getByRole("button", { name: "Revoke all" }).click();
    await sheet.getByRole("button", { name: "Really revoke 2 rules?" }).click();
    await sheet.getByText("There are no rules").waitFor();
    await page.keyboard.press("Escape");
  });

  scenario("a proposed edit opens as a diff, is changed there, and is written as the user left it", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    await writeFile(join(workspace, "notes.txt"), "\ufeffone\r\ntwo\r\nthree");
    const edit = { path: "notes.txt", old_text: "two", new_text: "2" };
    await api.enqueue([{ call: "read_file", input: { path: "notes.txt" } }], [{ call: "edit_file", input: edit }], { say: "Written." });
    const panel = await openPanel(page);
    await sendPrompt(panel, "Write the number");
    await approval(panel).getByRole("button", { name: "Open in the editor" }).click();
    await editorShows(page, "three");
    await page.locator(".editor.modified .monaco-editor .view-line").last().click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("zero\n");
    await screenshot("1-changed-before-accepting");
    await page.getByRole("button", { name: "Accept proposed edit" }).first().click();
    await itemsOf(panel, "assistant").getByText("Written.").waitFor();
    assert.equal(await readFile(join(workspace, "notes.txt"), "utf8"), "\ufeffzero\r\none\r\n2\r\nthree");
    const told = JSON.stringify((await api.calls()).at(-1)?.body.messages.at(-1));
    assert.match(told, /The user changed your proposal/);
    assert.match(told, /\+zero/);
    await expectEventually(async () => (await page.locator(".tab").count()) === 0, "the proposal is closed");
    await screenshot("2-written");
    await itemsOf(panel, "toolCall").getByText("Accepted with your changes").click();
    await itemsOf(panel, "toolCall").locator(".tool-yours .diff-added").getByText("zero").waitFor();
    await screenshot("3-what-the-user-changed");
    assert.ok(await isThere(workspace, FILE));
  });

  scenario("a hook runs once its command was seen and allowed, and the page says what it did", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    const command = 'echo "Tanks are read with care" >&2; exit 2';
    const hooks = { PreToolUse: [{ matcher: "Read", hooks: [{ type: "command", command }] }], Notification: [{ hooks: [] }] };
    await mkdir(join(workspace, ".claude"), { recursive: true });
    await writeFile(join(workspace, ".claude", "settings.json"), JSON.stringify({ hooks }));
    const reading = { call: "read_file", input: { path: FILE } };
    await api.enqueue([reading], { say: "It is read." });
    await api.enqueue([reading], { say: "I may not." });
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Read the tank");
    await itemsOf(panel, "notice").getByText("There are hooks that you have not decided about").waitFor();
    await screenshot("1-told");
    await panel.getByRole("button", { name: "Show hooks" }).click();
    const hook = panel.locator(".sheet .hook");
    await hook.getByText("Not allowed yet").waitFor();
    assert.equal(await hook.locator(".hook-command").textContent(), command);
    await screenshot("2-page");
    await hook.getByRole("button", { name: "Allow with all rights" }).focus();
    await page.keyboard.press("Enter");
    await hook.getByText("Runs with all your rights").waitFor();
    await screenshot("3-allowed");
    await page.keyboard.press("Escape");
    await sendAndFinish(panel, "Read it again");
    assert.match(JSON.stringify((await api.calls()).at(-1)?.body.messages), /> Tanks are read with care/);
    await sendPrompt(panel, "/hooks");
    await hook.getByText("it said no").waitFor();
    await screenshot("4-what-it-did");
    await hook.getByRole("button", { name: "Never run" }).click();
    await hook.getByText("Never runs").waitFor();
    await page.keyboard.press("Escape");
  });
});

/**
 * Opens the page again until the server says that it goes by that way of asking: a choice reaches it by VS Code's settings, a moment later.
 *
 * @param {import("playwright-core").Page} page
 * @param {import("playwright-core").Locator} sheet
 * @param {string} way
 */
async function serverGoesBy(page, sheet, way) {
  await expectEventually(async () => {
    await sheet.locator(".ways legend").evaluate((legend) => legend.setAttribute("data-drawn-before", ""));
    await page.keyboard.press("Escape");
    await runCommand(page, "Ullage: Permissions");
    await sheet.locator(".ways legend:not([data-drawn-before])").waitFor();
    return sheet.getByRole("radio", { name: way }).isChecked();
  }, `the server goes by: ${way}`);
}
