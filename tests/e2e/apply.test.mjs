/** Code of an answer on its way into a file: what Apply would change is shown first, and nothing outside of the workspace is changed. */

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { expectEventually } from "./harness/eventually.mjs";
import { itemsOf, openPanel, sendAndFinish } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, editorText, isUnsaved, listedNotification, listNotifications, notification } from "./harness/workbench.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("./harness/panel.mjs").Panel} Panel */

const FILE = "tankgauge/tank.py";
const BEFORE = "return self.table.capacity_l";
const CHANGED = "return round(self.table.capacity_l)";
/** As a model shows it: one method, without the class around it. */
const METHOD = `def capacity_l(self) -> float:\n    """All that the tank holds, in whole litres."""\n    ${CHANGED}`;

const NEW = "notes/levels.md";
const NOTE = "# Levels\n\nTank 3 is low.";

const outside = await mkdtemp(join(tmpdir(), "ullage-outside-"));
after(() => rm(outside, { recursive: true, force: true }));

/** @param {string} path @param {string} code */
const answerWith = (path, code) => ({
  say: `Like this:\n\n\`\`\`${path.endsWith(".md") ? "markdown" : "python"} ${path}\n${code}\n\`\`\`\n`,
});

stage("code of an answer", {}, (scenario) => {
  scenario(
    "code for a file is shown as a diff, and changes the file in the editor",
    { goesOn: true },
    async ({ page, api, workspace, screenshot }) => {
      await api.enqueue(answerWith(FILE, METHOD));
      const panel = await openPanel(page);
      await sendAndFinish(panel, "Give me the capacity in whole litres");
      await screenshot("1-answer");
      await apply(panel, FILE);
      await diffOf(page).getByText(CHANGED).waitFor();
      await notification(page, `Change ${FILE} as shown?`).waitFor();
      await screenshot("2-proposed");
      assert.doesNotMatch(await readFile(join(workspace, FILE), "utf8"), /in whole litres/);

      await answer(page, "Apply");
      await diffOf(page).waitFor({ state: "detached" });
      await editorShows(page, `        ${CHANGED}`);
      assert.doesNotMatch(await editorText(page), /return self\.table\.capacity_l$/m);
      assert.ok(await isUnsaved(page), "the user saves it, or takes it back");
      await page.locator(".statusbar-item", { hasText: "Ln 51, Col 1" }).waitFor();
      await screenshot("3-applied");

      await page.locator(".editor-instance .monaco-editor .view-lines").first().click();
      await page.keyboard.press("Control+Z");
      await editorShows(page, `        ${BEFORE}\n`);
      await expectEventually(async () => !(await isUnsaved(page)), "the file is as it was");
    },
  );

  scenario("a new file is offered, and made only when it is applied", { goesOn: true }, async ({ page, api, workspace, screenshot }) => {
    await api.enqueue(answerWith(NEW, NOTE));
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Note the levels");
    await apply(panel, NEW);
    await notification(page, `Make the new file ${NEW}?`).waitFor();
    await diffOf(page).getByText("Tank 3 is low.").waitFor();
    await screenshot("1-proposed");
    await answer(page, "Discard");
    await diffOf(page).waitFor({ state: "detached" });
    await assert.rejects(readFile(join(workspace, NEW)), { code: "ENOENT" });

    await apply(panel, NEW);
    await diffOf(page).getByText("Tank 3 is low.").waitFor();
    await answer(page, "Apply");
    await diffOf(page).waitFor({ state: "detached" });
    await editorShows(page, "Tank 3 is low.");
    assert.equal(await readFile(join(workspace, NEW), "utf8"), `${NOTE}\n`);
    await screenshot("2-made");
  });

  scenario("a change whose folder becomes a link out of the workspace while it is shown is not made", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    await api.enqueue(answerWith(NEW, NOTE));
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Note the levels");
    await apply(panel, NEW);
    await notification(page, `Make the new file ${NEW}?`).waitFor();
    const elsewhere = await mkdtemp(join(outside, "later-"));
    await symlink(elsewhere, join(workspace, "notes"));
    await answer(page, "Apply");
    await notification(page, `${NEW} does not lie in this workspace, so nothing was changed.`).waitFor();
    await screenshot("1-told");
    assert.deepEqual(await readdir(elsewhere), []);
    await rm(elsewhere, { recursive: true });
  });

  const links = {
    "linked.py": join(outside, "theirs.py"),
    "folder/made.py": join(outside, "made.py"),
    "dangling.py": join(outside, "not-there.py"),
  };
  scenario("code for a path that leads out of the workspace changes nothing", { prepare: linkOut, goesOn: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    const theirs = await readFile(links["linked.py"], "utf8");
    const panel = await openPanel(page);
    await listNotifications(page);
    for (const path of Object.keys(links)) {
      await api.enqueue(answerWith(path, "x = 2"));
      await sendAndFinish(panel, `Change ${path}`);
      await apply(panel, path);
      await listedNotification(page, `${path} does not lie in this workspace, so nothing was changed.`).waitFor();
      await screenshot(path.replace(/\W/g, "-"));
      assert.equal(await diffOf(page).count(), 0);
    }
    assert.deepEqual(await readdir(outside), ["theirs.py"]);
    assert.equal(await readFile(links["linked.py"], "utf8"), theirs);
  });

  /** @param {string} workspace */
  async function linkOut(workspace) {
    await writeFile(links["linked.py"], "x = 1\n");
    await symlink(links["linked.py"], join(workspace, "linked.py"));
    await symlink(outside, join(workspace, "folder"));
    await symlink(links["dangling.py"], join(workspace, "dangling.py"));
  }
});

/** Presses Apply at the code of the newest answer. @param {Panel} panel @param {string} path the file that it says it is of */
async function apply(panel, path) {
  const block = itemsOf(panel, "assistant").last().locator(".code-block");
  await block.hover();
  await block.getByRole("button", { name: `Apply to ${path}` }).click();
}

/** The new side of the diff that is open. @param {Page} page */
function diffOf(page) {
  return page.locator(".monaco-diff-editor .editor.modified");
}

/** Answers the question below the diff. @param {Page} page @param {"Apply" | "Discard"} button */
async function answer(page, button) {
  await notification(page, /as shown\?|Make the new file/)
    .getByRole("button", { name: button })
    .click();
}
