/** The window is reloaded in the middle of a turn. What is decided once for a window, as it loads, is tried in it as well. */

import assert from "node:assert/strict";
import { assertHolds, expectEventually } from "./harness/eventually.mjs";
import { clickAtItem } from "./harness/history.mjs";
import { hidePanel, itemsOf, openPanel, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { SMALL_WINDOW } from "./harness/readings.mjs";
import { stage } from "./harness/stage.mjs";
import { extensionsKnow, notification, reloadWindow, resizePanel, runCommand } from "./harness/workbench.mjs";

const READ = { call: "read_file", input: { path: "tankgauge/tank.py" } };

/** A window that has loaded with it keeps the page of a hidden panel, which plays the sound. */
const WITH_SOUND = { "ullage.notifications.sound": true };

stage("reload", { window: SMALL_WINDOW }, (scenario) => {
  scenario(
    "after a reload in the middle of a turn the session is there, says so, and goes on",
    { settings: WITH_SOUND, goesOn: true },
    async ({ page, api, screenshot }) => {
      await api.enqueue({ say: "The first answer." });
      await api.enqueue([{ think: "Look first." }, { say: "I read the tank." }, READ]);
      await api.enqueue({
        reply: [{ say: "It holds a number of litres, and I am saying how many." }],
        chunk_size: 8,
        interruption: { holds_after: 4 },
      });
      let panel = await openPanel(page);
      await sendAndFinish(panel, "The first prompt");
      await clickAtItem(itemsOf(panel, "assistant").first(), /^Fork from here/);
      await panel.locator(".session-title").getByText("The first prompt (fork)").waitFor();
      await sendPrompt(panel, "How much does the tank hold?");
      await api.held();
      await itemsOf(panel, "assistant").getByText("It holds a number").waitFor();
      await screenshot("1-in-the-turn");

      await reloadWindow(page);
      panel = await openPanel(page);
      await panel
        .getByRole("button", { name: /^Forked from/ })
        .getByText("The first prompt")
        .waitFor();
      await itemsOf(panel, "notice")
        .getByText(/interrupted/)
        .waitFor();
      for (const text of ["The first prompt", "How much does the tank hold?"]) await itemsOf(panel, "user").getByText(text).waitFor();
      for (const text of ["The first answer.", "I read the tank."]) await itemsOf(panel, "assistant").getByText(text).waitFor();
      await itemsOf(panel, "toolCall").getByText("Read tankgauge/tank.py").waitFor();
      await screenshot("2-reloaded");

      await api.enqueue({ say: "It holds 40,000 litres." });
      await panel.getByRole("button", { name: "Continue", exact: true }).click();
      await itemsOf(panel, "assistant").getByText("It holds 40,000 litres.").waitFor();
      await turnIsOver(panel);
      await screenshot("3-went-on");
      const sent = JSON.stringify((await api.calls()).at(-1)?.body.messages);
      for (const text of ["The first prompt", "How much does the tank hold?", "I read the tank.", "tool_result"]) assertHolds(sent, text);
      await api.enqueue({ say: "The last answer." });
      await sendAndFinish(panel, "The last prompt");
      await itemsOf(panel, "assistant").getByText("The last answer.").waitFor();
      const refused = (await api.calls()).filter(({ status }) => status >= 400);
      assert.deepEqual(refused, []);
    },
  );

  const heard = "a hidden panel is heard, where the user wants a sound";
  scenario(heard, { settings: WITH_SOUND, goesOn: true }, async ({ page, api, screenshot }) => {
    await api.enqueue({ reply: [{ say: "It is done." }], chunk_size: 4, interruption: { holds_after: 1 } });
    await api.enqueue({ reply: [{ say: "It is wet." }], chunk_size: 4, interruption: { holds_after: 1 } });
    const panel = await openPanel(page);
    await resizePanel(page, 440); // a narrow side bar has no room for its icon, and after a reload it may be narrow
    const tones = await listen(panel);
    await sendPrompt(panel, "Do it while I listen");
    await api.held();
    await hidePanel(page);
    await api.release();
    await notification(page, "Ullage is done: Do it while I listen").waitFor();
    await expectEventually(async () => (await tones()).join() === "880,660", "two tones, downwards");
    await screenshot("1-heard");
    await notification(page, "Ullage is done").getByRole("button", { name: "Show" }).click();
    await itemsOf(panel, "assistant").getByText("It is done.").waitFor();
    await sendPrompt(panel, "Make it wet");
    await api.held();
    const lookAgain = await lookElsewhere(page);
    await extensionsKnow(page);
    await api.release();
    await notification(page, "Ullage is done: Do it while I listen").waitFor();
    await mark(page).waitFor();
    await screenshot("2-marked");
    await lookAgain();
    await mark(page).waitFor({ state: "detached" });
    await api.enqueue({ say: "It is dry." });
    await sendAndFinish(panel, "Make it dry");
    assert.equal((await tones()).length, 4, "who looks at the panel hears nothing");

    await runCommand(page, "Notifications: Clear All Notifications");
    await api.enqueue({ reply: [{ call: "bash", input: { command: "touch damp.txt" } }], chunk_size: 4, interruption: { holds_after: 1 } });
    await api.enqueue({ say: "It is damp." });
    await sendPrompt(panel, "Make it damp");
    await api.held();
    await hidePanel(page);
    await api.release();
    const asked = notification(page, "Ullage waits for your approval: Run `touch damp.txt`");
    await asked.waitFor();
    await expectEventually(async () => (await tones()).slice(4).join() === "660,880", "two tones, upwards");
    await screenshot("3-asked");
    await asked.getByRole("button", { name: "Allow Once" }).click();
    await notification(page, "Ullage is done").getByRole("button", { name: "Show" }).click();
    await itemsOf(panel, "assistant").getByText("It is damp.").waitFor();
  });
});

/** The number at the icon of the panel. @param {import("playwright-core").Page} page */
const mark = (page) => page.locator(".part.auxiliarybar .composite-bar .badge-content").filter({ hasText: "1" });

/**
 * Another window has the focus from now on, by all that the browser tells of it; a browser without a screen takes it from none. Gives what brings
 * it back.
 *
 * @param {import("playwright-core").Page} page
 */
async function lookElsewhere(page) {
  const tell = (/** @type {boolean} */ hasFocus) =>
    page.evaluate((now) => {
      document.hasFocus = () => now;
      document.dispatchEvent(new Event("visibilitychange")); // VS Code asks again
    }, hasFocus);
  await tell(false);
  return () => tell(true);
}

/** What gives the tones (in hertz) that the panel has played since, for a browser of tests has no loudspeaker. @param {import("./harness/panel.mjs").Panel} panel */
async function listen(panel) {
  await panel.locator("html").evaluate(() => {
    const tones = /** @type {number[]} */ ([]);
    class Heard extends OscillatorNode {
      /** @override @param {number} [when] */
      start(when) {
        tones.push(this.frequency.value);
        super.start(when);
      }
    }
    Object.assign(globalThis, { tones, OscillatorNode: Heard });
  });
  return () => panel.locator("html").evaluate(() => /** @type {typeof globalThis & {tones: number[]}} */ (globalThis).tones);
}
