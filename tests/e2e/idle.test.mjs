/** A compaction that comes by itself while the user edits, and what the model sees after it. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { assertHolds } from "./harness/eventually.mjs";
import { summaries } from "./harness/fake-api.mjs";
import { gaugeReaches } from "./harness/gauge.mjs";
import { itemsOf, openPanel, sendAndFinish } from "./harness/panel.mjs";
import { readings, SMALL_WINDOW } from "./harness/readings.mjs";
import { stage } from "./harness/stage.mjs";
import { editorShows, isUnsaved, openFile, revertFile, typeAtLine } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";

stage("while editing", { window: SMALL_WINDOW }, (scenario) => {
  scenario(
    "near its line the conversation is compacted while the user types, and the unsaved text is sent",
    { goesOn: true },
    async (scene) => {
      const { page, api, workspace, screenshot } = scene;
      await api.addRules(
        summaries("The user wants the readings looked at.\n\n## Decisions\n- Use millimetres, since the dip stick does, and never litres."),
      );
      const [first, second, third] = await readings(workspace, 3);
      await api.enqueue([first], { say: "Seen once." }, [second], { say: "Seen twice." }, [third], { say: "Seen three times." });
      const panel = await openPanel(page);
      await sendAndFinish(panel, "Look at the readings. Never change the file.");
      await sendAndFinish(panel, "Look at them again");
      await sendAndFinish(panel, "And once more");
      const full = await gaugeReaches(page, (percent) => percent > 75, "near the line");
      assert.equal(await itemsOf(panel, "compaction").count(), 0);
      await screenshot("1-near-the-line");

      await openFile(page, FILE);
      await typeAtLine(page, 1, "# typed, and not saved: safe fill is 0.95\n");
      await itemsOf(panel, "compaction").getByText("while you were editing").waitFor();
      await gaugeReaches(page, (percent) => percent < full, "lower after the compaction");
      await editorShows(page, "# typed, and not saved");
      assert.equal(await isUnsaved(page), true);
      assert.doesNotMatch(await readFile(join(workspace, FILE), "utf8"), /typed, and not saved/);
      await itemsOf(panel, "compaction").locator("summary").click();
      await screenshot("2-compacted");
      await itemsOf(panel, "compaction").getByText("Summary written by the model").waitFor();

      await api.enqueue({ say: "It is 0.95." });
      await sendAndFinish(panel, "What is the safe fill now?");
      await itemsOf(panel, "assistant").getByText("It is 0.95.").waitFor();
      const sent = JSON.stringify((await api.calls()).at(-1)?.body.messages);
      assertHolds(sent, "# typed, and not saved: safe fill is 0.95");
      assertHolds(sent, "Never change the file");
      assert.equal(sent.includes("Seen once"), false);
      await screenshot("3-answered");
      await revertFile(page);
    },
  );
});
