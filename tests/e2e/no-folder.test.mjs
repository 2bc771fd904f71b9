/** A window in which no folder is open. */

import { itemsOf, openPanel, sendAndFinish } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";

stage("without a folder", {}, (scenario) => {
  scenario("a window without a folder", { project: null, alone: true }, async ({ page, api, screenshot }) => {
    await api.enqueue([{ call: "list_files", input: {} }], { say: "There is no folder." });
    const panel = await openPanel(page);
    await panel.getByText(/No folder is open/).waitFor();
    await screenshot("1-before");
    await sendAndFinish(panel, "What is here?");
    await itemsOf(panel, "assistant").getByText("There is no folder.").waitFor();
    await itemsOf(panel, "toolCall").getByRole("button").first().click();
    await itemsOf(panel, "toolCall")
      .getByText(/folder/i)
      .last()
      .waitFor();
    await screenshot("2-told");
  });
});
