/** The server process is killed. */

import assert from "node:assert/strict";
import { expectEventually } from "./harness/eventually.mjs";
import { gauge } from "./harness/gauge.mjs";
import { itemsOf, openPanel, sendAndFinish, sendPrompt } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { notification } from "./harness/workbench.mjs";

stage("crash", {}, (scenario) => {
  scenario(
    "a server that is killed in a turn comes back, and nothing is lost",
    { goesOn: true },
    async ({ page, api, serverProcess, screenshot }) => {
      await api.enqueue({ say: "The first answer." });
      await api.enqueue({ reply: [{ say: "The second answer is long, and it is cut." }], chunk_size: 8, interruption: { holds_after: 3 } });
      const panel = await openPanel(page);
      await sendAndFinish(panel, "The first prompt");
      await sendPrompt(panel, "The second prompt");
      await api.held();

      const before = await serverProcess();
      process.kill(before, "SIGKILL");
      await notification(page, "ended unexpectedly").waitFor();
      await itemsOf(panel, "notice")
        .getByText(/interrupted/)
        .waitFor();
      assert.notEqual(await serverProcess(), before);
      await itemsOf(panel, "assistant").getByText("The first answer.").waitFor();
      await itemsOf(panel, "user").getByText("The second prompt").waitFor();
      await screenshot("1-back");

      await api.enqueue({ say: "The third answer." });
      await sendAndFinish(panel, "The third prompt");
      await itemsOf(panel, "assistant").getByText("The third answer.").waitFor();
      await screenshot("2-works");
    },
  );

  const goesOn = { goesOn: true, alone: true };
  scenario("a server that ends again and again is left stopped, until the user restarts it", goesOn, async (scene) => {
    const { page, api, serverProcess, screenshot } = scene;
    await api.enqueue({ say: "The first answer." });
    const panel = await openPanel(page);
    await sendAndFinish(panel, "The first prompt");
    await gauge(page).getByText("%").waitFor();

    // The fifth end within three minutes is one too many. That of the scenario before counts, where this one goes on in its window.
    const stopped = panel.getByText("keeps ending");
    let kills = 0;
    while (!(await stopped.isVisible())) {
      const pid = await serverProcess();
      process.kill(pid, "SIGKILL");
      kills += 1;
      await expectEventually(() => hasEnded(pid), "the process ends");
      const asked = await questionsForModels(api);
      // One that is killed while it starts could not be started, and is not started again.
      const isBack = async () => (await questionsForModels(api)) > asked;
      await expectEventually(async () => (await isBack()) || stopped.isVisible(), "another server has opened the session, or none does");
    }
    assert.ok(kills === 4 || kills === 5, `left stopped after ${kills} kills`);
    await gauge(page).getByText("Ullage stopped").waitFor();
    assert.equal(await notification(page, "keeps ending").count(), 0);
    await screenshot("1-stopped");
    await itemsOf(panel, "assistant").getByText("The first answer.").waitFor();

    await panel.getByRole("button", { name: "Restart" }).click();
    await gauge(page).getByText("%").waitFor();
    await api.enqueue({ say: "The second answer." });
    await sendAndFinish(panel, "The second prompt");
    await itemsOf(panel, "assistant").getByText("The first answer.").waitFor();
    await itemsOf(panel, "assistant").getByText("The second answer.").waitFor();
    await screenshot("2-restarted");
  });
});

/** How often the endpoint was asked for its models, which each server does for its session. @param {import("./harness/fake-api.mjs").FakeApi} api */
async function questionsForModels(api) {
  return (await api.requests()).filter(({ path }) => path === "/v1/models").length;
}

/** @param {number} pid */
function hasEnded(pid) {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
