/** A compaction that is written in the background and takes its place while the user types a prompt. */

import assert from "node:assert/strict";
import { assertHolds, expectEventually } from "./harness/eventually.mjs";
import { gaugeReaches } from "./harness/gauge.mjs";
import { messagesOf, repliesAsked } from "./harness/history.mjs";
import { itemsOf, openPanel, promptBox, sendAndFinish } from "./harness/panel.mjs";
import { readings, SMALL_WINDOW } from "./harness/readings.mjs";
import { stage } from "./harness/stage.mjs";
import { openFile, revertFile, typeAtLine } from "./harness/workbench.mjs";

const RECORD = [
  "=== RECORD ===",
  "The user has the readings looked at, three times by now, and edits the tank meanwhile.",
  "## Decisions",
  "- Use millimetres, since the dip stick does, and never litres.",
  "=== END OF RECORD ===",
].join("\n");

stage("in the background", { window: SMALL_WINDOW }, (scenario) => {
  scenario(
    "a compaction takes its place while the user types, nothing typed is lost, and the next prompt does not wait",
    { goesOn: true },
    async (scene) => {
      const { page, api, workspace, screenshot } = scene;
      const [first, second, third] = await readings(workspace, 3);
      await api.addRules({
        when: "=== RECORD ===",
        outcome: { reply: [{ say: RECORD }], chunk_size: 16, interruption: { holds_after: 3 } },
      });
      await api.enqueue([first], { say: "Seen once." }, [second], { say: "Seen twice." }, [third], { say: "Seen three times." });
      const panel = await openPanel(page);
      for (const prompt of ["Look at the readings", "Look at them again", "And once more"]) await sendAndFinish(panel, prompt);
      const full = await gaugeReaches(page, (percent) => percent > 75, "near the line");

      await api.held(); // the summary is being written, and nothing shows it
      await openFile(page, "tankgauge/tank.py");
      await typeAtLine(page, 1, "# safe fill is 0.95\n");
      await promptBox(panel).click();
      await page.keyboard.type("What is the safe");
      assert.equal(await itemsOf(panel, "compaction").count(), 0);
      await screenshot("1-typing");

      await api.release();
      await page.keyboard.type(" fill");
      await itemsOf(panel, "compaction").getByText("Prepared while you were editing · Summary written by the model").waitFor();
      await gaugeReaches(page, (percent) => percent < full, "lower after the compaction");
      await page.keyboard.type(" now?");
      assert.equal(await promptBox(panel).inputValue(), "What is the safe fill now?");
      await screenshot("2-swapped-in");

      const before = (await repliesAsked(api)).length;
      await api.enqueue({ say: "It is 0.95." });
      await page.keyboard.press("Enter");
      await itemsOf(panel, "assistant").getByText("It is 0.95.").waitFor();
      await expectEventually(async () => (await promptBox(panel).inputValue()) === "", "the prompt was sent");
      const [asked] = (await repliesAsked(api)).slice(before);
      const sent = JSON.stringify(messagesOf(asked));
      assertHolds(sent, "What is the safe fill now?");
      assertHolds(sent, "Use millimetres");
      assert.equal(sent.includes("Seen once"), false);
      await screenshot("3-answered");
      await revertFile(page);
    },
  );
});
