/** The context view in VS Code: what is done from its rows, the requests that missed the cache, a log that can only be read, its looks. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectEventually } from "./harness/eventually.mjs";
import { itemsOf, openPanel, promptBox, sendAndFinish } from "./harness/panel.mjs";
import { readings, SMALL_WINDOW } from "./harness/readings.mjs";
import { stage } from "./harness/stage.mjs";
import { resizePanel } from "./harness/workbench.mjs";

/** @typedef {import("playwright-core").Locator} Locator */

const THEMES = [
  ["dark", "Default Dark Modern", "vscode-dark"],
  ["light", "Default Light Modern", "vscode-light"],
  ["high-contrast", "Default High Contrast", "vscode-high-contrast"],
];

stage("context-view", { window: SMALL_WINDOW }, (scenario) => {
  scenario("a part is sorted, found, gone to, cleared, pinned and excluded, and undo brings it back", { goesOn: true }, async (scene) => {
    const { page, api, workspace, screenshot } = scene;
    const reads = await readings(workspace, 2);
    await api.enqueue(...reads.map((read) => [{ say: "I look." }, read]), { say: "I have seen them." });
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Look at the readings");
    const view = await openContext(panel);
    const rows = view.locator(".part-row");

    await view.getByLabel("Order").selectOption("newest");
    await rows.first().filter({ hasText: "I have seen them." }).waitFor();
    await view.getByLabel("Order").selectOption("oldest");
    await rows.first().filter({ hasText: "System prompt" }).waitFor();
    await view.getByLabel("Filter parts").fill("data/readings");
    await expectEventually(async () => (await rows.count()) === 2, "both calls fit");
    const call = rows.first();
    const before = await tokensOf(call);
    await screenshot("1-found");

    await call.hover();
    const clear = call.getByRole("button", {
      name: /^Clear this result: frees about [\d.]+k, and the next prompt costs about \$[\d.]+ more/,
    });
    await clear.click();
    await expectEventually(async () => (await tokensOf(call)) < before / 10, "a placeholder is there");
    assert.equal(await call.getByRole("button", { name: /^Clear/ }).count(), 0, "it is cleared already");
    await screenshot("2-cleared");

    await call.locator(".part-open").click();
    await view.waitFor({ state: "hidden" });
    await itemsOf(panel, "toolCall").first().locator(".item-mark").waitFor();
    await itemsOf(panel, "compaction").last().getByRole("button", { name: "Undo" }).click();
    await itemsOf(panel, "compaction").last().getByText("Compaction undone").waitFor();

    await openContext(panel);
    await view.getByLabel("Filter parts").fill("data/readings");
    await expectEventually(async () => (await rows.count()) === 2 && (await tokensOf(call)) > before / 2, "undo brought it back");
    await call.hover();
    await call.getByRole("button", { name: "Pin: no compaction touches it" }).click();
    await call.locator(".codicon-pinned").first().waitFor();
    await call.hover();
    assert.equal(await call.getByRole("button", { name: /^Clear/ }).count(), 0, "what is pinned is not cleared");
    await view.getByLabel("Show").selectOption("pinned");
    await expectEventually(async () => (await rows.count()) === 1, "one is pinned");
    await call.hover();
    await call.getByRole("button", { name: "Unpin" }).click();
    await view.getByLabel("Show").selectOption("");
    await expectEventually(async () => (await rows.count()) === 2, "both are there");
    await call.hover();
    await call.getByRole("button", { name: "Exclude: the model no longer sees it" }).click();
    await view.locator(".part-row.excluded").waitFor();
    await view.getByLabel("Show").selectOption("excluded");
    await expectEventually(async () => (await rows.count()) === 1, "one is excluded");
    await screenshot("3-excluded");
    await page.keyboard.press("Escape");
  });

  scenario("a request that missed the cache says why, with what changed in the prefix", { goesOn: true }, async (scene) => {
    const { page, api, workspace, settings, screenshot } = scene;
    const [read] = await readings(workspace, 1);
    await api.enqueue([{ say: "I look." }, read], { say: "I have seen them." }, { say: "Millimetres it is." });
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Look at the readings");
    await writeFile(join(workspace, "AGENTS.md"), "All lengths are in millimetres.\n");
    await promptBox(panel).fill("/compact");
    await promptBox(panel).press("Enter");
    await itemsOf(panel, "compaction")
      .last()
      .getByText(/^Compacted/)
      .waitFor();
    await sendAndFinish(panel, "And now?");
    const view = await openContext(panel);
    const misses = view.locator(".cache-misses");
    await misses.getByText(/^1 of \d requests missed the cache$/).click();
    await misses.getByText(/the rules changed; the context was compacted/).waitFor();
    await misses.locator(".miss-change .added", { hasText: "All lengths are in millimetres." }).waitFor();
    for (const [name, theme, className] of THEMES) {
      await settings({ "workbench.colorTheme": theme });
      await panel.locator(`body.${className}`).waitFor();
      await screenshot(`4-missed-${name}`);
    }
    await resizePanel(page, 300);
    await screenshot("5-narrow");
    await settings({});
    await page.keyboard.press("Escape");
  });

  scenario("the log of a sub-agent offers nothing that cannot be done in it", { goesOn: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    await api.addRules({ when: "AGENT-LOOKS", outcome: [{ say: "I look into it." }, { call: "list_files", input: {} }], times: 1 });
    await api.enqueue(
      [{ call: "task", input: { title: "Find the gauge", prompt: "AGENT-LOOKS" } }],
      { say: "In gauge.py." },
      { say: "There." },
    );
    const panel = await openPanel(page);
    await sendAndFinish(panel, "Where is the gauge?");
    await itemsOf(panel, "toolCall").first().getByRole("button", { name: "Open log" }).click();
    await panel.getByRole("button", { name: "Log of a sub-agent" }).waitFor();
    await itemsOf(panel, "assistant").first().hover();
    await expectEventually(async () => (await shown(panel.locator(".changes-session"))) === 0, "no button changes anything");
    await screenshot("6-log");
    await panel.locator(".meter").click();
    const view = panel.locator(".context-view");
    await view.locator(".part-row").first().waitFor();
    assert.equal(await view.locator(".part-pin, .part-exclude, .part-clear").count(), 0);
    assert.equal(await panel.getByRole("button", { name: "Compact now" }).isVisible(), false);
    await screenshot("7-read-only");
    await page.keyboard.press("Escape");
    await panel.getByRole("button", { name: "Log of a sub-agent" }).click();
  });
});

/** @param {import("./harness/panel.mjs").Panel | Locator} panel */
async function openContext(panel) {
  await promptBox(panel).fill("/context");
  await promptBox(panel).press("Enter");
  const view = panel.locator(".context-view");
  await view.locator(".part-row").first().waitFor();
  return view;
}

/** @param {Locator} row */
async function tokensOf(row) {
  return Number((await row.locator(".number").innerText()).replaceAll(/\D/g, ""));
}

/** How many of them can be seen. @param {Locator} buttons */
async function shown(buttons) {
  return buttons.evaluateAll((all) => all.filter((each) => /** @type {HTMLElement} */ (each).offsetParent !== null).length);
}
