/** Sessions of a team in a real PostgreSQL: a container is thrown away, and the next one goes on, also while the database is away for a moment. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { expectEventually } from "./harness/eventually.mjs";
import { itemsOf, openPanel, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { startPostgres } from "./harness/postgres.mjs";
import { stage } from "./harness/stage.mjs";
import { resizePanel, runCommand } from "./harness/workbench.mjs";

const postgres = await startPostgres();
if (typeof postgres === "string") {
  void test("sessions of a team", { skip: postgres });
} else {
  after(postgres.end);
  await play(postgres);
}

/** @param {import("./harness/postgres.mjs").Postgres} database */
async function play(database) {
  const containers = await mkdtemp(join(tmpdir(), "ullage-containers-"));
  after(() => rm(containers, { recursive: true }));
  const first = join(containers, "first");
  /**
   * What a container sets that keeps what is its own in `folder`; the workspace is the same in each. What else is there of it, the server, ends with
   * these settings. The window and its VS Code stay: of sessions they know only the id of the one that was open last.
   *
   * @param {string} folder
   */
  const settings = (folder) => ({
    "ullage.store.url": database.url,
    "ullage.store.workspace": "tankgauge",
    "ullage.store.location": folder,
  });

  stage("a team", {}, (scenario) => {
    scenario("a session is kept in the database", { settings: settings(first), goesOn: true }, async ({ page, api }) => {
      const panel = await openPanel(page);
      await api.enqueue({ say: "The dip is seven." });
      await sendAndFinish(panel, "How much is the dip?");
      await itemsOf(panel, "assistant").getByText("The dip is seven.").waitFor();
    });

    const second = { settings: settings(join(containers, "second")), goesOn: true };
    scenario("its container is thrown away, and another goes on while the database comes and goes", second, async (scene) => {
      const { page, api, serverProcess, screenshot } = scene;
      await serverProcess(); // the one of this container alone: the other's has ended
      await rm(first, { recursive: true });
      const panel = await openPanel(page);
      await runCommand(page, "Ullage: Show sessions");
      await panel.locator(".session-row").filter({ hasText: "How much is the dip?" }).locator(".session-open").click();
      await itemsOf(panel, "assistant").getByText("The dip is seven.").waitFor();
      await screenshot("1-opened-elsewhere");

      // Tools wait until the reply that wants them is in the database, and it is gone by then.
      await api.enqueue({ hang: [{ say: "I look it up." }, { call: "read_file", input: { path: "README.md" } }] });
      await sendPrompt(panel, "And the ullage?");
      await api.held();
      await database.halt();
      await api.release();
      const away = panel.locator(".banner.warning").filter({ hasText: /Nothing is lost/ });
      await away.waitFor();
      await itemsOf(panel, "notice").getByText("The turn waits until what was said is in the team's database.").waitFor();
      await screenshot("2-away");
      await resizePanel(page, 300);
      await screenshot("2-away-narrow");
      await resizePanel(page, 440);

      const calls = (await api.calls()).length;
      await api.enqueue({ say: "The ullage is three." });
      await database.goOn();
      await panel.locator(".banner.note").getByText("The team's database is back").waitFor();
      await away.waitFor({ state: "detached" });
      await screenshot("3-is-back");
      await itemsOf(panel, "assistant").getByText("The ullage is three.").waitFor();
      await turnIsOver(panel);
      await itemsOf(panel, "notice").getByText("The turn waits").waitFor({ state: "detached" });
      await expectEventually(async () => (await api.calls()).length === calls + 1, "it was asked once more, and not twice");
      const asked = JSON.stringify((await api.calls()).at(-1)?.body.messages);
      for (const part of ["How much is the dip?", "The dip is seven.", "And the ullage?", "I look it up."]) {
        if (!asked.includes(part)) throw new Error(`The model was not told: ${part}`);
      }
      await screenshot("4-went-on");
    });
  });
}
