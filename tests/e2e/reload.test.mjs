/** The window is reloaded in the middle of a turn. */

import assert from "node:assert/strict";
import { assertHolds } from "./harness/eventually.mjs";
import { itemsOf, openPanel, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { reloadWindow } from "./harness/workbench.mjs";

const READ = { call: "read_file", input: { path: "tankgauge/tank.py" } };

stage("reload", {}, (scenario) => {
  scenario(
    "after a reload in the middle of a turn the session is there, says so, and goes on",
    { goesOn: true },
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
      await sendPrompt(panel, "How much does the tank hold?");
      await api.held();
      await itemsOf(panel, "assistant").getByText("It holds a number").waitFor();
      await screenshot("1-in-the-turn");

      await reloadWindow(page);
      panel = await openPanel(page);
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
});
