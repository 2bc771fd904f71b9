/**
 * The tour that a newcomer takes: no key, the practice model, the sample workspace. The pictures that start with `film` become the animation of
 * the README (`scripts/lib/film.py`).
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { capture } from "../../scripts/lib/processes.mjs";
import { clickGauge, gaugeReaches } from "./harness/gauge.mjs";
import { approval, itemsOf, openPanel, promptBox, sendAndFinish, startAgain, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { openFile, resizePanel, runCommand, typeAtLine } from "./harness/workbench.mjs";

/** As a newcomer has them: without a key the practice model answers. */
const settings = { "ullage.model.provider": "auto" };

stage("the tour", { practice: true }, (scenario) => {
  const options = { settings, size: { width: 1280, height: 800 } };
  scenario("the tour mends the failing test, and compacts on the way", options, async (scene) => {
    const { page, workspace, screenshot } = scene;
    assert.notEqual((await runTests(workspace)).code, 0);
    await openFile(page, "tankgauge/table.py");
    await typeAtLine(page, 95, "");
    const panel = await openPanel(page);
    await resizePanel(page, 480);
    await page.mouse.move(0, 0); // what is pointed at is marked
    await screenshot("film-1-start");
    await panel.getByRole("button", { name: "Take the tour" }).click();

    const end = itemsOf(panel, "assistant").getByText("Things to try");
    const asked = approval(panel);
    for (let approvals = 1; ; approvals++) {
      await asked.or(end).first().waitFor();
      if (await end.isVisible()) break;
      await screenshot(`film-2-asked-${approvals}`);
      const id = await asked.locator("xpath=ancestor::*[@data-item-id]").getAttribute("data-item-id");
      await asked.getByRole("button", { name: "Allow once" }).click();
      await panel.locator(`[data-item-id="${id}"] .approval`).waitFor({ state: "detached" });
    }

    const { code, output } = await runTests(workspace);
    assert.equal(code, 0, output);
    const card = itemsOf(panel, "compaction");
    await card.getByText(/files? read again/).waitFor();
    await gaugeReaches(page, (percent) => percent < 90, "lower after the compaction");

    // The one that came by itself is above what was said since.
    await card.first().scrollIntoViewIfNeeded();
    await screenshot("film-3-compacted");
    await card.first().locator("summary").filter({ hasText: "Summary" }).click();
    await card.first().evaluate((node) => node.scrollIntoView({ block: "start" }));
    await screenshot("film-4-summary");
    await card.first().locator("summary").filter({ hasText: "Summary" }).click();

    const before = await gaugeReaches(page, (percent) => percent > 0, "there");
    await clickGauge(page);
    const again = card.nth(1);
    await again.getByText("You asked for it").waitFor();
    await page.mouse.move(0, 0);
    await panel.locator(".timeline").evaluate((timeline) => timeline.scrollTo(0, timeline.scrollHeight));
    await promptBox(panel).focus();
    const compacted = await gaugeReaches(page, (percent) => percent < before, "lower again");
    await screenshot("film-5-asked-for");
    await again.getByRole("button", { name: "Undo" }).click();
    await again.getByText("Compaction undone").waitFor();
    await gaugeReaches(page, (percent) => percent > compacted, "higher after the undo");
    await page.mouse.move(0, 0);
    await screenshot("film-6-undone");
  });
});

/** @param {string} folder */
function runTests(folder) {
  return capture(["python3", "-m", "unittest"], { cwd: folder });
}

stage("the walkthrough", { practice: true }, (scenario) => {
  scenario(
    "each step of the walkthrough does what it says, in a folder of one's own",
    { goesOn: true, prepare: emptied, settings },
    async (scene) => {
      const { page, screenshot } = scene;
      await startAgain(page); // the session that the window has began before the folder was emptied, and is told of it
      const panel = await openPanel(page);
      await runCommand(page, "View: Toggle Secondary Side Bar Visibility");
      await runCommand(page, "Welcome: Open Walkthrough...", "Get started with Ullage");

      await step(page, "Open the chat");
      await screenshot("1-open");
      await press(page, "Open chat");
      await promptBox(panel).waitFor();

      await step(page, "Take the tour");
      await screenshot("2-tour");
      await press(page, "Take the tour");
      await itemsOf(panel, "assistant").getByText("write a note").waitFor();
      await turnIsOver(panel);
      assert.equal(await panel.getByText("0 of 5").count(), 0, "no plan is left that nobody will carry out");
      await screenshot("2-tour-taken");

      await step(page, "Watch the gauge");
      await screenshot("3-compact");
      await press(page, "Compact conversation");
      await itemsOf(panel, "compaction").getByText("There is nothing to compact").waitFor();
      assert.equal(await page.getByText("Compaction failed").count(), 0, "what is too short to be compacted has not failed");
      await turnIsOver(panel);
      await screenshot("3-compacted");

      await step(page, "Connect a model");
      await screenshot("4-model");
      await press(page, "Connect a model");
      await page.getByPlaceholder("Where should answers come from?").waitFor();
      await screenshot("4-model-asked");

      // The walkthrough takes the focus once more after a step was chosen, and a dialogue that is open by then closes. So it is opened anew.
      await page.keyboard.press("Escape");
      await page.getByPlaceholder("Where should answers come from?").waitFor({ state: "hidden" });
      await panel.getByText("Connect a model").first().click();
      await page.getByPlaceholder("Where should answers come from?").waitFor();
      const server = await withKey("right");
      await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "A server, by its address" }).click();
      const input = page.locator(".quick-input-widget .quick-input-box input");
      const asked = page.locator(".quick-input-widget");
      await asked.getByText("Address of the server").waitFor();
      await input.fill("127.0.0.1");
      await asked.getByText("It looks like http://127.0.0.1:8080").waitFor();
      await input.fill("http://127.0.0.1:9");
      await page.keyboard.press("Enter");
      await asked.getByText("cannot be reached: nothing listens there").first().waitFor();
      await screenshot("5-nothing-there");
      await input.fill(server);
      await page.keyboard.press("Enter");
      await asked.getByText(`${server} asks for a key`).first().waitFor();
      await input.fill("wrong");
      await page.keyboard.press("Enter");
      await asked.getByText("does not accept the API key").first().waitFor();
      assert.equal(await asked.getByRole("link").count(), 0, "a server's words make no link that runs a command");
      await screenshot("6-key-refused");
      await input.fill("right");
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "Tank Reader" }).click();
      await panel.locator("button.model-button").getByText("tank-reader").or(panel.getByText("Tank Reader")).first().waitFor();
      await screenshot("7-connected");

      /** @type {(string | undefined)[]} */
      const keys = [];
      const noList = await withoutList("small-one", keys);
      await page.keyboard.press("F1");
      await input.fill(">Ullage: Connect a model");
      await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "Ullage: Connect a model" }).first().click();
      await page.getByPlaceholder("Where should answers come from?").waitFor();
      await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "A server, by its address" }).click();
      await asked.getByText("Address of the server").waitFor();
      await input.fill(noList);
      await page.keyboard.press("Enter");
      await asked.getByText("Type the name of a model").first().waitFor();
      await screenshot("8-no-list");
      await input.fill("large-one");
      await page.keyboard.press("Enter");
      await asked.getByText("large-one").first().waitFor();
      await screenshot("9-unknown-name");
      await input.fill("small-one");
      await page.keyboard.press("Enter");
      await page.getByText(`The stored API key is not for ${noList}`).first().waitFor();
      await page.getByRole("button", { name: "Forget the Key" }).click();
      await panel.locator("button.model-button").getByText("small-one").waitFor();
      await sendAndFinish(panel, "Are you there?");
      await itemsOf(panel, "assistant").getByText("Here I am.").waitFor();
      await screenshot("10-answers");
      assert.deepEqual([...new Set(keys)], ["Bearer none"], "the key of the first server does not go to the second");
      await runCommand(page, "Ullage: Clear API key"); // other scenarios have the same profile
    },
  );
});

/** The address of a server that lists a model to those who have its key. @param {string} key */
async function withKey(key) {
  const site = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const refused = {
      type: "error",
      error: { type: "authentication_error", message: "invalid [key](command:workbench.action.closeWindow)" },
    };
    const models = { data: [{ type: "model", id: "tank-reader", display_name: "Tank Reader" }], has_more: false };
    const isKnown = request.headers.authorization === `Bearer ${key}`;
    response.writeHead(isKnown ? 200 : 401).end(JSON.stringify(isKnown ? models : refused));
  });
  site.listen(0, "127.0.0.1").unref();
  await once(site, "listening");
  const address = site.address();
  assert.ok(typeof address === "object" && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

/**
 * The address of a server that runs one model and lists none.
 *
 * @param {string} model
 * @param {(string | undefined)[]} keys gets what it was sent as a key with each request
 */
async function withoutList(model, keys) {
  const site = createServer((request, response) => void answer(request, response));
  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  const answer = async (request, response) => {
    keys.push(request.headers.authorization);
    const isMessage = request.method === "POST" && new URL(request.url ?? "", "http://here").pathname === "/v1/messages";
    const asked = isMessage ? /** @type {{ model: string }} */ (await json(request)).model : undefined;
    if (asked !== model) {
      const error = { type: "not_found_error", message: asked === undefined ? "no such page" : `model: ${asked}` };
      response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ type: "error", error }));
      return;
    }
    const usage = { input_tokens: 20, output_tokens: 4 };
    const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage };
    const events = [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Here I am." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 4 } },
      { type: "message_stop" },
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  };
  site.listen(0, "127.0.0.1").unref();
  await once(site, "listening");
  const address = site.address();
  assert.ok(typeof address === "object" && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

/** A step of the walkthrough, unfolded. @param {import("playwright-core").Page} page @param {string} title */
async function step(page, title) {
  await page.locator(".getting-started-step").filter({ hasText: title }).first().click();
  await page.locator(".getting-started-step.expanded").filter({ hasText: title }).waitFor();
}

/** The button of the step that is unfolded. @param {import("playwright-core").Page} page @param {string} label */
async function press(page, label) {
  await page.locator(".getting-started-step.expanded").getByRole("button", { name: label, exact: true }).last().click();
}

/** @param {string} folder */
async function emptied(folder) {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
  await writeFile(join(folder, "notes.txt"), "The dip stick is in the shed.\n");
}
