/** A panel of 300 pixels, and a small window: what is needed is in sight, and nothing lies over what is to be read. */

import assert from "node:assert/strict";
import { expectEventually } from "./harness/eventually.mjs";
import { answerApproval, approval, itemsOf, openPanel, promptBox, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { resizePanel } from "./harness/workbench.mjs";

/** @typedef {import("playwright-core").Locator} Locator */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

const FILE = "tankgauge/tank.py";
const READ = { call: "read_file", input: { path: FILE } };
const LINES = Array.from({ length: 40 }, (_, line) => `# line ${line + 1} of what the agent adds`);
const OLD = "from __future__ import annotations";
const EDIT = { call: "edit_file", input: { path: FILE, old_text: OLD, new_text: [...LINES, OLD].join("\n") } };
const WIDE = { width: 1280, height: 800 };

stage("narrow", {}, (scenario) => {
  scenario("in a narrow panel and a small window all that is needed is in sight", { goesOn: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    await api.enqueue([READ], [{ say: "Mended in one place, as the notes have it." }, EDIT], {
      say: "It is done now, as the survey notes ask for.",
    });
    const panel = await openPanel(page);
    await page.setViewportSize(WIDE);
    await resizePanel(page, 300);
    const timeline = panel.locator(".timeline");

    await sendPrompt(panel, "Mend the tank");
    await approval(panel).waitFor();
    await page.setViewportSize({ width: 900, height: 420 });
    const buttons = approval(panel).locator(".button-row").getByRole("button");
    const beginning = panel.locator(".diff").getByText("line 1 of");
    await expectEventually(
      async () => (await isWithin(beginning, timeline)) && (await areWithin(buttons, timeline)),
      "diff and buttons show",
    );
    await screenshot("1-asked");
    await timeline.evaluate((element) => element.scrollBy(0, 20));
    await expectEventually(() => areWithin(buttons, timeline), "the buttons stay while one looks at what is above");
    await page.setViewportSize(WIDE);
    await answerApproval(panel, "Allow once");
    await turnIsOver(panel);

    const reply = itemsOf(panel, "assistant").last();
    await reply.hover();
    await coversNothing(reply.locator(".item-tools"), [reply.locator(".markdown")]);
    await screenshot("2-reply");
    const edit = itemsOf(panel, "toolCall").last();
    await edit.locator(".tool-header").click();
    await edit.hover();
    await coversNothing(edit.locator(".item-tools"), [edit.locator(".tool-changes"), edit.locator(".tool-title")]);
    await screenshot("3-edit");

    await page.setViewportSize({ ...WIDE, height: 480 });
    await edit.locator(".tool-header").click();
    await expectEventually(() => isWithin(edit.locator(".diff tr").nth(3), timeline), "what was unfolded shows");
    await screenshot("4-unfolded");
    await page.setViewportSize(WIDE);

    const name = panel.locator(".model-button");
    assert.ok(await name.evaluate((button) => button.scrollWidth <= button.clientWidth && button.scrollHeight <= button.clientHeight));
    await promptBox(panel).fill("/context");
    await promptBox(panel).press("Enter");
    await panel.locator(".part-row").nth(3).waitFor();
    const wide = await panel
      .locator(".context-view")
      .evaluate(
        (view) => [...view.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > view.clientWidth + 1).length,
      );
    assert.equal(wide, 0, "nothing of the context view is wider than the panel");
    await screenshot("5-context");
    await resizePanel(page, 440);
  });
});

/** Whether all of something is within what shows of another. @param {Locator} inner @param {Locator} outer */
async function isWithin(inner, outer) {
  const [a, b] = [await boxOf(inner), await boxOf(outer)];
  return a.y >= b.y - 1 && a.y + a.height <= b.y + b.height + 1;
}

/** @param {Locator} inner @param {Locator} outer */
async function areWithin(inner, outer) {
  for (const each of await inner.all()) if (!(await isWithin(each, outer))) return false;
  return true;
}

/** @param {Locator} over @param {Locator[]} read */
async function coversNothing(over, read) {
  for (const each of read) {
    const hidden = await each.evaluate((element) => getComputedStyle(element).visibility === "hidden");
    const [a, b] = [await boxOf(over), await boxOf(each)];
    // The first line of a text has some room above its letters.
    const apart = a.y + a.height <= b.y + 4 || b.y + b.height <= a.y || a.x + a.width <= b.x || b.x + b.width <= a.x;
    assert.ok(hidden || apart, `${JSON.stringify(a)} lies over ${JSON.stringify(b)}`);
  }
}

/** @param {Locator} element @returns {Promise<Box>} */
async function boxOf(element) {
  return (await element.boundingBox()) ?? { x: 0, y: -1, width: 0, height: 0 };
}
