/** The gauge in the status bar: how full it is, what it is made of, and a click that compacts and can be undone. */

import assert from "node:assert/strict";
import { clickGauge, gauge, gaugeIsPriced, gaugePercent, gaugeReaches, gaugeTooltip } from "./harness/gauge.mjs";
import { hidePanel, itemsOf, openPanel, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { readings, SMALL_WINDOW } from "./harness/readings.mjs";
import { stage } from "./harness/stage.mjs";
import { summaries } from "./harness/fake-api.mjs";
import { extensionsKnow, notification } from "./harness/workbench.mjs";

stage("the gauge", { window: SMALL_WINDOW }, (scenario) => {
  scenario("it is there before any prompt, rises in a turn, and a click compacts, which can be undone", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    const [first, second, third] = await readings(workspace, 3);
    await api.addRules(summaries("The user wants the readings looked at.\n\n## Decisions\n- Use millimetres, since the dip stick does."));
    await api.enqueue([{ say: "I look." }, first], {
      reply: [{ say: "I have seen a number of readings." }],
      interruption: { holds_after: 1 },
    });
    await api.enqueue([second], { say: "Seen again." }, [{ ...third, input: { ...third.input, limit: 120 } }], { say: "There they are." });
    const atStart = await gaugeReaches(page, (percent) => percent < 30, "low before any prompt");
    await screenshot("1-before");

    const panel = await openPanel(page);
    await sendPrompt(panel, "Look at the readings. Never change the file.");
    await api.held();
    const inTurn = await gaugeReaches(page, (percent) => percent > atStart + 10, "risen while the turn runs");
    await screenshot("2-in-the-turn");
    await api.release();
    await turnIsOver(panel);
    await sendAndFinish(panel, "Look at them once more");
    await sendAndFinish(panel, "And for the last time");
    await gaugeReaches(page, (percent) => percent > inTurn, "higher after three turns");
    const full = await gaugeIsPriced(page);

    const tooltip = await gaugeTooltip(page);
    await screenshot("3-tooltip");
    for (const part of [/system prompt/, /tool definitions/, /your messages/, /read_file/, /in all/]) assert.match(tooltip, part);
    const [, sum = ""] = /in all\s+([\d,]+)/.exec(tooltip) ?? [];
    const above = (/^[^|\t]*31,500[^|\t]*$/m.exec(tooltip)?.[0] ?? "").match(/\d+,\d{3}/g);
    assert.deepEqual(above?.toSorted(), [sum, "31,500", "63,000"].toSorted());

    await clickGauge(page);
    const card = itemsOf(panel, "compaction");
    await card.getByText(/^[\d.]+k? → [\d.]+k? tokens$/).waitFor();
    await gaugeReaches(page, (percent) => percent < full, "lower after the compaction");
    const after = await gaugeIsPriced(page); // the endpoint has counted what was estimated
    await card.locator("summary").filter({ hasText: "Summary" }).click();
    await card.getByText("Use millimetres").waitFor();
    await extensionsKnow(page);
    assert.equal(await notification(page, "Compacted: ").count(), 0, "the card says it, and the prompt box stays free");
    await screenshot("4-compacted");

    await card.getByRole("button", { name: "Undo" }).click();
    await card.getByText("Compaction undone").waitFor();
    await gaugeReaches(page, (percent) => percent === full, `${full} again`);
    assert.match(await gaugeTooltip(page), /undid/);
    await screenshot("5-undone");
    await page.mouse.move(0, 0); // what the gauge says lies over the card
    await card.getByRole("button", { name: "Redo" }).click();
    await gaugeReaches(page, (percent) => percent === after, `${after} again`);
    await gauge(page).waitFor();
    assert.equal(await gaugePercent(page), after);

    // Who does not see the card is told by a notification.
    await card.getByRole("button", { name: "Undo" }).click();
    await gaugeReaches(page, (percent) => percent === full, `${full} for the third time`);
    await hidePanel(page);
    await clickGauge(page);
    const told = notification(page, "Compacted: ");
    await told.waitFor();
    await screenshot("6-told");
    await told.getByRole("button", { name: "Undo" }).click();
    await gaugeReaches(page, (percent) => percent === full, `${full} at the end`);
    await itemsOf(await openPanel(page), "compaction")
      .nth(1)
      .getByText("Compaction undone")
      .waitFor();
  });

  scenario("a click on its number in the panel shows what fills the window, and acts on it", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    const [reading] = await readings(workspace, 1);
    await api.enqueue([{ say: "I look." }, reading], { say: "I have seen them." });
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Look at the readings again");
    await panel.locator(".meter").click();
    const view = panel.locator(".context-view");
    await view.locator(".part-row").first().waitFor();
    const sum = await view.locator(".context-words p").first().textContent();
    assert.match(sum ?? "", /^[\d,]+ of 31,500 tokens\. The model's window is 63,000\.$/);
    await view.getByText(/Warm for \d:\d\d: the next prompt costs about \$/).waitFor();
    await view.locator(".tile").first().waitFor();
    await screenshot("7-context");

    await view.locator('[data-kind="tool"]').click();
    await view.locator('[data-kind="tool"][aria-pressed="true"]').waitFor();
    await view.locator(".part-row").filter({ hasText: "read_file" }).waitFor();
    await view.locator('[data-kind="tool"]').click();
    await view.locator('[data-kind="tool"][aria-pressed="false"]').waitFor();
    await view.getByLabel("Filter parts").fill("readings");
    const row = view.locator(".part-row").first();
    await row.filter({ hasText: "readings" }).waitFor();
    await view.getByLabel("Filter parts").press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter"); // its pin
    await view.locator(".part-row .codicon-pinned").first().waitFor();
    await screenshot("7-pinned");
    await view.locator(".part-row .part-open").first().click();
    await view.waitFor({ state: "hidden" });
    await page.keyboard.press("Escape");
  });
});
