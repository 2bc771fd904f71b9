/** What becomes of a conversation, in the user's hands: preview, undo, redo, pin, exclude, recall, timeline and search. */

import assert from "node:assert/strict";
import { assertHolds, expectEventually } from "./harness/eventually.mjs";
import { summaries } from "./harness/fake-api.mjs";
import { gaugeIsPriced, gaugePercent, gaugeReaches, gaugeTooltip } from "./harness/gauge.mjs";
import { clickAtItem, messagesOf, openTimeline, previewOf, repliesAsked, revealed, searchFor, timelineOf } from "./harness/history.mjs";
import { itemsOf, openPanel, promptBox, sendAndFinish } from "./harness/panel.mjs";
import { readings, SMALL_WINDOW } from "./harness/readings.mjs";
import { stage } from "./harness/stage.mjs";
import { openFile, resizePanel, runCommand } from "./harness/workbench.mjs";

const SUMMARY = "The user wants the readings looked at.\n\n## Decisions\n- Use millimetres, since the dip stick does.";
const NOT_BY_ITSELF = { "ullage.compaction.auto": false, "workbench.colorTheme": "Default Dark Modern" };

/** @param {string} path @param {number} [limit] */
const read = (path, limit) => ({ call: "read_file", input: { path, ...(limit === undefined ? {} : { limit }) } });
const READ = read("data/readings.csv", 250);

/**
 * Two turns, after which there is something to compact.
 *
 * @param {import("./harness/stage.mjs").Scene} scene
 */
async function filled({ page, api }) {
  await api.addRules(summaries(SUMMARY));
  await api.enqueue([{ say: "I look." }, READ, READ, READ], { say: "The north tank dips 731 mm." }, { say: "Seen again." });
  const panel = await openPanel(page);
  await sendAndFinish(panel, "Look at the readings. Never change the file.");
  await sendAndFinish(panel, "Look at them once more");
  return panel;
}

/** @param {import("./harness/panel.mjs").Panel} panel */
async function compacted(panel) {
  await itemsOf(panel, "compaction").last().getByText("Compacted").waitFor();
}

stage("history", { window: SMALL_WINDOW }, (scenario) => {
  scenario("a compaction is seen before it is made, then made, undone and redone", { goesOn: true, anew: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    const panel = await filled(scene);
    const full = await gaugeIsPriced(page);
    const before = messagesOf((await repliesAsked(api)).at(-1));

    await gaugeTooltip(page);
    await page.locator(".monaco-hover").getByRole("link", { name: "Preview" }).click();
    const preview = previewOf(panel);
    await preview.getByText(/^[\d.]+k? → [\d.]+k? tokens$/).waitFor();
    await screenshot("1-preview");
    for (const text of ["The model would write the summary", "The next request", "Message by message", "summarised"]) {
      await preview.getByText(text).first().waitFor();
    }
    await preview.getByText("Draft of the summary").click();
    await preview.getByText("Never change the file").first().waitFor();
    await preview.getByLabel("Focus of the summary").fill("the units");
    await preview.getByRole("button", { name: "Preview again" }).click();
    await expectEventually(() => preview.getByRole("button", { name: "Compact" }).isEnabled(), "the preview is there again");
    await resizePanel(page, 320);
    await screenshot("2-with-focus-narrow");
    assert.equal(await gaugePercent(page), full);
    assert.equal((await repliesAsked(api)).length, 3);

    await preview.getByRole("button", { name: "Compact" }).click();
    await preview.waitFor({ state: "hidden" });
    await compacted(panel);
    const after = await gaugeReaches(page, (percent) => percent < full, "lower after the compaction");
    await screenshot("3-compacted-narrow");
    await resizePanel(page, 420);
    const [asked] = (await repliesAsked(api)).slice(3);
    assertHolds(JSON.stringify(asked?.body.messages.at(-1)), "the units");

    await itemsOf(panel, "compaction").getByRole("button", { name: "Undo" }).click();
    await itemsOf(panel, "compaction").getByText("Compaction undone").waitFor();
    await gaugeReaches(page, (percent) => percent === full, `${full} again`);
    await api.enqueue({ say: "As before." });
    await sendAndFinish(panel, "Is it all there?");
    const undone = messagesOf((await repliesAsked(api)).at(-1));
    assert.deepEqual(undone.slice(0, before.length), before);
    await screenshot("4-undone");

    await itemsOf(panel, "compaction").getByRole("button", { name: "Redo" }).click();
    await compacted(panel);
    await api.enqueue({ say: "In short." });
    await sendAndFinish(panel, "And now?");
    const redone = JSON.stringify(messagesOf((await repliesAsked(api)).at(-1)));
    assertHolds(redone, "Use millimetres, since the dip stick does");
    assert.ok(redone.length < JSON.stringify(undone).length / 2, "the request is small again");
    await gaugeReaches(page, (percent) => percent < after + 15, "low again");
    await screenshot("5-redone");
  });

  scenario("the model recalls what was summarised, and the panel shows it", { goesOn: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    const panel = await filled(scene);
    await runCommand(page, "Ullage: Compact conversation");
    await compacted(panel);
    const call = messagesOf((await repliesAsked(api))[1])
      .flatMap(({ content }) => content)
      .find(({ type }) => type === "tool_use");
    await api.enqueue([{ call: "recall", input: { query: "dips 731" } }], [{ call: "recall", input: { tool_use_id: call.id } }], {
      say: "It dipped 731 mm.",
    });
    await sendAndFinish(panel, "How much did the north tank dip?");
    await itemsOf(panel, "assistant").getByText("It dipped 731 mm.").waitFor();
    await runCommand(page, "Notifications: Clear All Notifications");
    const [search, open] = [itemsOf(panel, "toolCall").nth(3), itemsOf(panel, "toolCall").nth(4)];
    await search.getByText('Recall "dips 731"').click();
    await search.getByText("The north tank dips 731 mm.").waitFor();
    await open.getByText(`Recall result ${call.id}`).waitFor();
    await search.getByText("The north tank dips 731 mm.").scrollIntoViewIfNeeded();
    await screenshot("recalled");
    await itemsOf(panel, "compaction")
      .getByText(/^Read again after this compaction: (\d+ files?, )?[\d.]+k? tokens/)
      .waitFor();
    const results = resultsOf(messagesOf((await repliesAsked(api)).at(-1)));
    assertHolds(results[0]?.text ?? "", "The north tank dips 731 mm.");
    assert.deepEqual(results[1]?.text, resultsOf(messagesOf((await repliesAsked(api))[1]))[0]?.text);
  });

  scenario(
    "the timeline says what became of each message, leads to it, and undoes an earlier compaction",
    { goesOn: true },
    async (scene) => {
      const { page, api, screenshot } = scene;
      const panel = await filled(scene);
      await runCommand(page, "Ullage: Compact conversation");
      await compacted(panel);
      await api.enqueue([READ], { say: "Seen a third time." }, [READ], { say: "Seen a fourth time." });
      await sendAndFinish(panel, "Look again");
      await sendAndFinish(panel, "And again");
      await runCommand(page, "Ullage: Compact conversation");
      await expectEventually(
        async () => (await itemsOf(panel, "compaction").getByText("Compacted").count()) === 2,
        "it is compacted twice",
      );
      await runCommand(page, "Notifications: Clear All Notifications");

      const timeline = await openTimeline(page, panel);
      await expectEventually(async () => (await timeline.locator(".epoch").count()) === 3, "there are three epochs");
      const facts = await itemsOf(panel, "compaction")
        .first()
        .getByText(/\d+ messages summarised/)
        .textContent();
      const counted = /\d+ messages summarised/.exec(facts ?? "")?.[0] ?? "no count";
      const first = timeline.locator(".epoch").nth(1);
      await first.getByText(counted, { exact: true }).click();
      await expectEventually(
        async () => `${await first.locator(".fate-row").count()} messages summarised` === counted,
        "the list has as many messages as the card counts",
      );
      await first.getByText(/messages? stayed/).click();
      await first.getByText("stays").first().waitFor();
      await screenshot("1-timeline");
      await timeline.getByRole("button", { name: "Look at the readings. Never change the file." }).click();
      await timeline.waitFor({ state: "hidden" });
      await revealed(panel).getByText("Look at the readings. Never change the file.").waitFor();
      await screenshot("2-revealed");

      await openTimeline(page, panel);
      await timelineOf(panel).getByRole("button", { name: "Undo compaction 2" }).click();
      await timelineOf(panel).getByRole("button", { name: "Redo compaction 2" }).waitFor();
      await timelineOf(panel).locator(".epoch").nth(1).locator("summary").first().click();
      await timelineOf(panel).locator(".epoch").nth(1).locator(".fate-row").first().waitFor();
      await resizePanel(page, 320);
      await screenshot("3-undone-narrow");
      await timelineOf(panel).getByRole("button", { name: "Redo compaction 2" }).click();
      await timelineOf(panel).getByRole("button", { name: "Undo compaction 2" }).waitFor();
      await page.keyboard.press("Escape");
      await timelineOf(panel).waitFor({ state: "hidden" });
      await promptBox(panel).and(panel.locator(":focus")).waitFor();
    },
  );

  scenario(
    "a pinned message survives a compaction, a pinned file is read again, and what is excluded is gone",
    { goesOn: true },
    async (scene) => {
      const { page, api, workspace, screenshot } = scene;
      const [first, second] = await readings(workspace, 2);
      await api.addRules(summaries(SUMMARY));
      await api.enqueue([read("docs/survey-notes.md")], { say: "The survey says so." }, { say: "Forget that the moon is a tank." });
      await api.enqueue([first], { say: "Seen once." }, [second], { say: "Seen twice." });
      const panel = await openPanel(page);
      await sendAndFinish(panel, "Read the survey notes");
      await sendAndFinish(panel, "Say something odd");
      await sendAndFinish(panel, "Look at the readings");
      await sendAndFinish(panel, "Look at them once more");

      const survey = itemsOf(panel, "toolCall").first();
      await clickAtItem(survey, /^Pin/);
      await survey.getByRole("button", { name: "Unpin" }).waitFor();
      await clickAtItem(itemsOf(panel, "assistant").nth(1), /^Exclude/);
      await itemsOf(panel, "compaction").getByText("Excluded", { exact: true }).waitFor();
      await itemsOf(panel, "assistant").nth(1).getByText("excluded").waitFor();
      await openFile(page, "tankgauge/table.py");
      await runCommand(page, "Pin file in Ullage");
      await panel.getByRole("list", { name: "Pinned files" }).getByText("table.py").waitFor();
      await screenshot("1-pinned");
      const [before] = (await repliesAsked(api)).slice(-1);
      const results = resultsOf(messagesOf(before));
      assertHolds(JSON.stringify(messagesOf(before)), "the moon is a tank");

      await runCommand(page, "Ullage: Compact conversation");
      await compacted(panel);
      await itemsOf(panel, "toolCall").nth(1).locator(".item-mark").waitFor();
      await itemsOf(panel, "compaction").last().locator("summary").click();
      await itemsOf(panel, "compaction").last().getByRole("button", { name: "tankgauge/table.py" }).waitFor();
      await screenshot("2-compacted");
      await api.enqueue({ say: "Still here." });
      await sendAndFinish(panel, "What does the survey say?");
      const sent = messagesOf((await repliesAsked(api)).at(-1));
      assert.deepEqual(resultsOf(sent), results.slice(0, 1));
      assertHolds(JSON.stringify(sent), "class StrappingTable");
      assert.equal(JSON.stringify(sent).includes("the moon is a tank"), false);

      await panel.getByRole("button", { name: "Unpin tankgauge/table.py" }).click();
      await panel.getByRole("list", { name: "Pinned files" }).waitFor({ state: "hidden" });
      await itemsOf(panel, "compaction").first().getByRole("button", { name: "Undo" }).click();
      await itemsOf(panel, "compaction").first().getByText("Included again").waitFor();
      await screenshot("3-put-back");

      await openFile(page, "docs/survey-notes.md");
      await runCommand(page, "Exclude file from Ullage");
      const taken = itemsOf(panel, "compaction").last();
      await taken.getByText("The model no longer sees the text of docs/survey-notes.md").waitFor();
      await survey.getByText("excluded").waitFor();
      await taken.scrollIntoViewIfNeeded();
      await screenshot("4-file-excluded");
      await api.enqueue({ say: "I cannot see it." });
      await sendAndFinish(panel, "And what does it say now?");
      const without = messagesOf((await repliesAsked(api)).at(-1));
      assertHolds(JSON.stringify(resultsOf(without)[0]), "[The user took this result out of the conversation.]");
      await taken.getByRole("button", { name: "Undo" }).click();
      await taken.getByText("docs/survey-notes.md is no longer excluded").waitFor();
      await api.enqueue({ say: "I can see it." });
      await sendAndFinish(panel, "And now?");
      assert.deepEqual(resultsOf(messagesOf((await repliesAsked(api)).at(-1))).slice(0, 1), results.slice(0, 1));
    },
  );

  scenario("a search over all sessions opens the one and leads to the place", { goesOn: true }, async ({ page, api, screenshot }) => {
    await api.enqueue({ say: "The datum plate of the east tank lies 14 mm above the floor." }, { say: "Noted." }, { say: "Hello." });
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Where is the datum plate?");
    await sendAndFinish(panel, "Note that down");
    await runCommand(page, "Ullage: New session");
    await itemsOf(panel, "user").first().waitFor({ state: "detached" });
    await sendAndFinish(panel, "Hello there");

    const row = await searchFor(page, panel, "east datum", "14 mm above the floor");
    await screenshot("1-found");
    await row.click();
    await revealed(panel).getByText("14 mm above the floor").waitFor();
    await panel.getByRole("button", { name: /^Session: Where is the datum plate/ }).waitFor();
    await screenshot("2-opened");
  });

  scenario(
    "an undo that does not fit the window says so, and fits with old results cleared",
    { settings: NOT_BY_ITSELF, goesOn: true },
    async (scene) => {
      const { page, api, workspace, screenshot } = scene;
      const [another] = await readings(workspace, 1);
      const panel = await filled(scene);
      await api.enqueue([READ], { say: "Seen for the third time." });
      await sendAndFinish(panel, "And for the third time");
      await runCommand(page, "Ullage: Compact conversation");
      await compacted(panel);
      await api.enqueue(Array(5).fill(another), { say: "Seen very often." });
      await sendAndFinish(panel, "Look at them again and again");
      const full = await gaugeIsPriced(page);
      assert.ok(full > 150, `the gauge is at ${full} %`);

      await itemsOf(panel, "compaction").getByRole("button", { name: "Undo" }).click();
      const offer = panel.getByRole("button", { name: "Undo, and clear old results" });
      await panel
        .getByRole("alert")
        .getByText(`more than the model's ${SMALL_WINDOW.toLocaleString("en")}`)
        .waitFor();
      await runCommand(page, "Notifications: Clear All Notifications");
      await screenshot("1-does-not-fit");
      assert.equal(await gaugePercent(page), full);
      await offer.click();
      await itemsOf(panel, "compaction").first().getByText("Compaction undone").waitFor();
      await gaugeReaches(page, (percent) => percent < full, "lower with old results cleared");
      await itemsOf(panel, "compaction").last().getByText("Older results set aside, no summary needed").waitFor();
      await screenshot("2-fits");
      await api.enqueue({ say: "There it is." });
      await sendAndFinish(panel, "What did I say first?");
      assertHolds(JSON.stringify(messagesOf((await repliesAsked(api)).at(-1))), "The north tank dips 731 mm.");
    },
  );

  scenario(
    "by the keyboard alone: preview, compact, undo, pin, and what became of a message",
    { settings: NOT_BY_ITSELF, goesOn: true },
    async (scene) => {
      const { page, screenshot } = scene;
      const panel = await filled(scene);
      await runCommand(page, "Ullage: Preview compaction");
      await previewOf(panel)
        .getByText(/^[\d.]+k? → [\d.]+k? tokens$/)
        .waitFor();
      await tabTo(page, panel, "Tab", /^Compact$/);
      await screenshot("1-focus-in-the-preview");
      await page.keyboard.press("Enter");
      await compacted(panel);
      await promptBox(panel).and(panel.locator(":focus")).waitFor();

      await page.keyboard.press("Control+ArrowUp"); // Shift+Tab in the prompt box chooses the mode
      await tabTo(page, panel, "Shift+Tab", /^Undo$/);
      await page.keyboard.press("Enter");
      await itemsOf(panel, "compaction").getByText("Compaction undone").waitFor();
      await tabTo(page, panel, "Shift+Tab", /^Pin/);
      await screenshot("2-focus-on-a-pin");
      await page.keyboard.press("Enter");
      await panel.locator("[data-pinned]").waitFor();
      await runCommand(page, "Ullage: Redo compaction");
      await compacted(panel);

      await openTimeline(page, panel);
      await tabTo(page, panel, "Tab", /messages summarised$/);
      await page.keyboard.press("Enter");
      await timelineOf(panel).getByText("Summarised: The model sees the summary instead").waitFor();
      await tabTo(page, panel, "Tab", /Look at the readings/);
      await screenshot("3-focus-in-the-timeline");
      await page.keyboard.press("Enter");
      await revealed(panel).getByText("Look at the readings. Never change the file.").waitFor();
    },
  );

  scenario(
    "enlarged twice the preview still has room, and nothing covers the conversation",
    { settings: NOT_BY_ITSELF, goesOn: true },
    async (scene) => {
      const { page, screenshot } = scene;
      const panel = await filled(scene);
      await page.setViewportSize({ width: 640, height: 400 });
      const conversation = panel.locator(".timeline");
      await conversation.evaluate((element) => element.scrollTo(0, 0));
      const jump = panel.getByRole("button", { name: "↓ Newest" });
      await jump.waitFor();
      const [above, below] = [await conversation.boundingBox(), await jump.boundingBox()];
      assert.ok(above && below && above.y + above.height <= below.y, "the way to the end lies below the conversation");
      await screenshot("1-conversation");

      await runCommand(page, "Ullage: Preview compaction");
      const preview = previewOf(panel);
      await preview.getByText(/^[\d.]+k? → [\d.]+k? tokens$/).waitFor();
      await panel.locator(".composer").waitFor({ state: "hidden" });
      const box = await preview.boundingBox();
      assert.ok(box && box.height > 250, `the preview is ${String(box?.height)} pixels high`);
      await screenshot("2-preview");
      await preview.getByRole("button", { name: "Compact" }).scrollIntoViewIfNeeded();
      await page.keyboard.press("Escape");
      await promptBox(panel).and(panel.locator(":focus")).waitFor();
      await jump.press("Enter");
      await jump.waitFor({ state: "hidden" });
    },
  );
});

/**
 * Press a key until a control whose name fits has the focus; not at all where it has it. Each that has it on the way shows it.
 *
 * @param {import("playwright-core").Page} page
 * @param {import("./harness/panel.mjs").Panel} panel
 * @param {"Tab" | "Shift+Tab"} key
 * @param {RegExp} name
 */
async function tabTo(page, panel, key, name) {
  for (let presses = 0; presses < 60; presses++) {
    if (presses > 0) await page.keyboard.press(key);
    const focused = await panel.locator("body").evaluate(() => {
      const active = document.activeElement;
      const style = active === null ? undefined : getComputedStyle(active);
      return {
        name: (active?.getAttribute("aria-label") ?? active?.textContent ?? "").trim(),
        // The prompt box's frame shows its focus.
        shows: active?.matches(".prompt, .sheet, body") === true || (style?.outlineStyle === "solid" && style.opacity === "1"),
      };
    });
    assert.ok(focused.shows, `${focused.name} does not show that it has the focus`);
    if (name.test(focused.name)) return;
  }
  throw new Error(`No ${key} led to ${String(name)}`);
}

/** Results of tools in the messages: of which call, and their text. @param {any[]} messages @returns {{id: string, text: string}[]} */
function resultsOf(messages) {
  return messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === "tool_result")
    .map(({ tool_use_id: id, content }) => ({ id, text: typeof content === "string" ? content : JSON.stringify(content) }));
}
